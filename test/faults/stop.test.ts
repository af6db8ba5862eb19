import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import accountsPlugin from '../../plugins/accounts';
import { Client } from '../support/client';
import { ownProcess, until } from '../support/processes';
import {
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
} from '../support/real-server';

const BODY = JSON.stringify({ name: 'Fern' });
/** How long a program may take to stop. */
const STOP_MS = 15_000;

const started: RealServer[] = [];
let dataDir: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
});
afterEach(async () => {
  for (const server of started.splice(0)) {
    server.process.kill('SIGKILL');
    await server.ended;
  }
  await removeDataDirectory(dataDir);
});

async function startServer(env: NodeJS.ProcessEnv = {}, descriptors?: number): Promise<RealServer> {
  const server = await RealServer.start(dataDir, env, descriptors);
  started.push(server);
  return server;
}

/** Starts a program that must end by itself, and waits for that. */
async function failToStart(env: NodeJS.ProcessEnv = {}): Promise<RealServer> {
  const server = RealServer.spawn(dataDir, env);
  started.push(server);
  await server.ended;
  return server;
}

function aToken(): Promise<string> {
  return asOperator(dataDir, async (app) => {
    const scopes = [...app.scopes.keys()];
    const wanted = { userId: 'ann', scopes, name: 'test', expiresInSeconds: 3600 };
    return (await app.exportsOf(accountsPlugin).createToken(wanted)).token;
  });
}

/** A request of which the server has the head and half of the body, and all that it answers. */
class HalfSent {
  answer = '';
  readonly closed: Promise<unknown>;

  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => (this.answer += chunk.toString()));
    this.closed = once(socket, 'close');
  }

  static async send(url: string, token: string): Promise<HalfSent> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = [
      'POST /api/plants HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${BODY.length}`,
      // Its answer shows that the server has read this head.
      'Expect: 100-continue',
    ];
    const request = new HalfSent(socket);
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await until(() => request.answer.startsWith('HTTP/1.1 100'), { within: 30_000 });
    request.answer = '';
    socket.write(BODY.slice(0, 5));
    return request;
  }

  async finish(): Promise<void> {
    this.#socket.write(BODY.slice(5));
    await this.closed;
  }
}

async function refusesConnections(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => false),
    once(socket, 'close').then(() => true),
  ]).catch(() => true);
  socket.destroy();
  return outcome;
}

/** A sentence for the operator, and no trace of the program's insides. */
function expectOneSentence(text: string): void {
  const lines = text.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[A-Z].*\.$/);
}

test.each(['SIGTERM', 'SIGINT', 'Ctrl-C'] as const)(
  '%s lets requests in progress be answered, ends with 0 and takes its servers with it',
  async (how) => {
    const server = await startServer();
    expect(await runningServers(dataDir)).toEqual(['mongod', 'redis']);
    const token = await aToken();
    const requests = await Promise.all([1, 2, 3].map(() => HalfSent.send(server.url, token)));
    // A terminal sends its signal to the whole group.
    if (how === 'Ctrl-C') process.kill(-(server.process.pid ?? 0), 'SIGINT');
    else server.process.kill(how);
    expect(await until(() => refusesConnections(server.url), { within: STOP_MS })).toBe(true);
    await Promise.all(requests.map((request) => request.finish()));
    for (const { answer } of requests) {
      expect(answer).toMatch(/^HTTP\/1\.1 201 /);
      expect(answer).toMatch(/^Connection: close\r$/im);
    }
    expect(await until(() => server.process.exitCode !== null, { within: STOP_MS })).toBe(true);
    expect(server.process.exitCode).toBe(0);
    expect(await runningServers(dataDir)).toEqual([]);
  },
  90_000,
);

test('requests that never end do not keep the program from ending', async () => {
  const server = await startServer();
  const token = await aToken();
  await HalfSent.send(server.url, token);
  const stopping = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(STOP_MS);
  expect(await runningServers(dataDir)).toEqual([]);
}, 90_000);

test('while MongoDB hangs, /readyz and calls are answered with 503, and the program still stops', async () => {
  const server = await startServer();
  const token = await aToken();
  const mongod = ownProcess(dataDir, 'mongod');
  if (mongod === undefined) throw new Error('There is no mongod to stop.');
  process.kill(mongod, 'SIGSTOP');
  const client = new Client(server.url, token);
  // As long as a probe or a phone waits; the driver by itself would take most of a minute.
  const within = 25_000;
  const [ready, list, write] = await Promise.all([
    client.send('GET', '/readyz', { within }),
    client.send('GET', '/api/plants', { within }),
    client.send('POST', '/api/plants', { within, body: { name: 'Fern' } }),
  ]);
  for (const reply of [ready, list, write]) {
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  }
  const stopping = performance.now();
  await server.stop();
  expect(performance.now() - stopping).toBeLessThan(STOP_MS);
  expect(await runningServers(dataDir)).toEqual([]);
}, 90_000);

describe('a log', () => {
  /** Asks until more was logged than any buffer holds. */
  async function logMuch({ url }: RealServer): Promise<void> {
    const headers = { 'X-Request-Id': 'x'.repeat(128) };
    for (let count = 0; count < 8000; count += 50) {
      const answers = Array.from({ length: 50 }, () => fetch(`${url}/healthz`, { headers }));
      for (const answer of await Promise.all(answers)) {
        expect(answer.status).toBe(200);
        await answer.text();
      }
    }
  }

  async function expectToStop(server: RealServer): Promise<void> {
    const ended = once(server.process, 'exit');
    const stopping = performance.now();
    server.process.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - stopping).toBeLessThan(STOP_MS);
    expect(await runningServers(dataDir)).toEqual([]);
  }

  test('that is not read delays neither answers nor the end of the program', async () => {
    const server = await startServer({ LOG_LEVEL: 'debug' });
    server.process.stderr?.pause();
    await logMuch(server);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const [, dropped] = /^plantcare_log_lines_dropped_total (\d+)$/m.exec(metrics) ?? [];
    expect(Number(dropped)).toBeGreaterThan(0);
    await expectToStop(server);
    server.process.stderr?.resume();
  }, 180_000);

  test('whose reader is gone does neither', async () => {
    const server = await startServer({ LOG_LEVEL: 'debug' });
    server.process.stderr?.destroy();
    for (let count = 0; count < 20; count += 1) {
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    }
    await expectToStop(server);
  }, 90_000);
});

test('connections take no descriptors that the program needs for its MongoDB', async () => {
  const server = await startServer({}, 250);
  const token = await aToken();
  const mongod = ownProcess(dataDir, 'mongod');
  const { port } = new URL(server.url);
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  const closed = () => sockets.filter(({ closed: isClosed }) => isClosed).length;
  // Those above the limit are refused.
  await until(() => closed() > 100, { within: 30_000 });
  const kept = sockets.find((socket) => !socket.closed);
  let answer = '';
  kept?.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  kept?.write(`GET /api/plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await until(() => answer.length > 0, { within: 30_000 });
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of sockets) socket.destroy();
  // Until the server has seen that these are gone, there may be no room for another.
  const isReady = () =>
    fetch(`${server.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  expect(await until(isReady, { within: 30_000 })).toBe(true);
  expect(ownProcess(dataDir, 'mongod')).toEqual(mongod);
  expect(await server.stop()).toBe(0);
}, 120_000);

test('a second server on a data directory is refused, and the first goes on', async () => {
  const first = await startServer();
  const second = await failToStart();
  expect(second.process.exitCode).toBe(1);
  expect(second.stdout).toBe('');
  expectOneSentence(second.stderr);
  expect(second.stderr).toContain('already served by another program');
  expect(await runningServers(dataDir)).toEqual(['mongod', 'redis']);
  const ready = await fetch(`${first.url}/readyz`);
  expect(ready.status).toBe(200);
}, 90_000);

test('a port in use is reported in one sentence, and nothing is left running', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo; // It listens on TCP.
  const server = await failToStart({ PORT: String(port) });
  other.close();
  expect(server.process.exitCode).toBe(1);
  expect(server.stdout).toBe('');
  expectOneSentence(server.stderr);
  expect(server.stderr).toContain(String(port));
  expect(await runningServers(dataDir)).toEqual([]);
}, 90_000);

test('all wrong settings are reported at once, before anything is started', async () => {
  const wrong = {
    PORT: '70000',
    LOG_LEVEL: 'loud',
    TRUST_PROXY: 'perhaps',
    TIER_FREE_PLANTS: '-1',
  };
  const files = {
    TLS_CERT_FILE: '/missing.pem',
    TLS_KEY_FILE: __filename,
    MONGOD_BINARY: process.execPath,
    DATA_DIR: '/dev/null',
  };
  const server = await failToStart({ ...wrong, ...files });
  expect(server.process.exitCode).toBe(2);
  expect(server.stdout).toBe('');
  const lines = server.stderr.trim().split('\n');
  const names = [...Object.keys(wrong), ...Object.keys(files)];
  expect(lines).toHaveLength(names.length);
  for (const name of names) {
    expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
  }
  expect(await readdir(dataDir)).toEqual([]);
}, 90_000);
