import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { kill, ownProcess, until } from '../support/processes';
import { exchange } from '../support/raw';
import { requireNoSecrets } from '../support/secrets';
import {
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
  tokensOf,
} from '../support/program';

const BODY = JSON.stringify({ name: 'Fern' });
/** Few, so that a few hundred connections exceed them. */
const DESCRIPTORS = 300;

let dataDir: string;
let server: RealServer | undefined;

beforeAll(async () => {
  dataDir = await dataDirectory();
});
afterAll(async () => {
  await killAll();
  await removeDataDirectory(dataDir);
});

async function killAll(): Promise<void> {
  await server?.kill();
  server = undefined;
  for (const name of await runningServers(dataDir)) {
    const pid = ownProcess(dataDir, name);
    if (pid !== undefined) await kill(pid);
  }
}

/** The running server, since starting one takes longer than most tests, or a new one; it logs at the lowest level. */
async function aServer(): Promise<RealServer> {
  const env = { LOG_LEVEL: 'debug', TRUST_PROXY: '1' };
  server ??= await RealServer.start(dataDir, env, DESCRIPTORS);
  return server;
}

/** Starts a program that must exit by itself, and waits for that. */
async function failToStart(directory: string, env: NodeJS.ProcessEnv = {}): Promise<RealServer> {
  const failing = RealServer.spawn(directory, env);
  await failing.ended;
  return failing;
}

let tokens: Promise<string[]> | undefined;

/** A token of an account that tests share; available while a server runs. */
async function aToken(): Promise<string> {
  tokens ??= tokensOf(dataDir, ['ann']);
  const [token = ''] = await tokens;
  return token;
}

/** A request whose head and half of its body were sent, and everything that the server responds. */
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
      // The response shows that the server has read this head.
      'Expect: 100-continue',
    ];
    const request = new HalfSent(socket);
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await until(() => request.answer.startsWith('HTTP/1.1 100'));
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

/** Expects a sentence for the operator, without internals of the program. */
function expectOneSentence(text: string): void {
  const lines = text.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[A-Z].*\.$/);
}

test('connections leave enough file descriptors for MongoDB', async () => {
  const full = await aServer();
  const token = await aToken();
  const mongod = ownProcess(dataDir, 'mongod');
  const { port } = new URL(full.url);
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  const closed = () => sockets.filter(({ closed: isClosed }) => isClosed).length;
  // Connections above the limit are refused.
  await until(() => closed() > 100);
  const kept = sockets.find((socket) => !socket.closed);
  let answer = '';
  kept?.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  kept?.write(`GET /api/plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await until(() => answer.length > 0);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of sockets) socket.destroy();
  // Until the server has noticed that these are closed, there may be no room for another.
  const isReady = () =>
    fetch(`${full.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(isReady);
  expect(ownProcess(dataDir, 'mongod')).toEqual(mongod);
});

test('a second server on a data directory is refused, and the first keeps running', async () => {
  const first = await aServer();
  const second = await failToStart(dataDir);
  expect(second.process.exitCode).toBe(1);
  expect(second.stdout).toBe('');
  expectOneSentence(second.stderr);
  expect(second.stderr).toContain('Another server is running on the data directory');
  expect(await runningServers(dataDir)).toEqual(['mongod', 'redis']);
  const ready = await fetch(`${first.url}/readyz`);
  expect(ready.status).toBe(200);
});

describe('a program that is stopped', () => {
  afterEach(killAll);

  test.each([
    ['SIGTERM', (stopped: RealServer): boolean => stopped.process.kill('SIGTERM')],
    // A terminal sends a signal to the whole group.
    ['Ctrl-C', ({ process: { pid = 0 } }: RealServer): boolean => process.kill(-pid, 'SIGINT')],
  ] as const)(
    'by %s finishes requests in progress, stops its servers and exits with 0',
    async (how, send) => {
      const stopped = await aServer();
      expect(await runningServers(dataDir)).toEqual(['mongod', 'redis']);
      if (how === 'Ctrl-C') await loseReaderOfLog(stopped);
      const token = await aToken();
      const requests = await Promise.all([1, 2, 3].map(() => HalfSent.send(stopped.url, token)));
      send(stopped);
      await until(() => refusesConnections(stopped.url));
      // Longer than it waits for requests that are on their way.
      if (how === 'SIGTERM') await sleep(3000);
      await Promise.all(requests.map((request) => request.finish()));
      for (const { answer } of requests) {
        expect(answer).toMatch(/^HTTP\/1\.1 201 /);
        expect(answer).toMatch(/^Connection: close\r$/im);
      }
      await until(() => stopped.process.exitCode !== null);
      expect(stopped.process.exitCode).toBe(0);
      expect(await runningServers(dataDir)).toEqual([]);
    },
  );

  /** Ends the reader of a log, as Ctrl-C does if it is another program in the same terminal. */
  async function loseReaderOfLog({ process: { stderr }, url }: RealServer): Promise<void> {
    stderr?.destroy();
    for (let count = 0; count < 20; count += 1) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
  }

  test('exits despite requests that never end', async () => {
    const stopped = await aServer();
    await HalfSent.send(stopped.url, await aToken());
    stopped.process.kill('SIGINT');
    expect(await stopped.ended).toEqual({ code: 0, signal: null });
    requireNoSecrets(stopped.stderr);
    expect(await runningServers(dataDir)).toEqual([]);
    const said = stopped.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => ['stopping', 'drained', 'stopped'].includes(String(msg)));
    expect(said).toMatchObject([
      { level: 'info', msg: 'stopping' },
      { level: 'info', msg: 'drained', cut: 1 },
      { level: 'info', msg: 'stopped' },
    ]);
  });

  test('while MongoDB hangs still exits; /readyz and calls get 503 meanwhile', async () => {
    const hanging = await aServer();
    const token = await aToken();
    const mongod = ownProcess(dataDir, 'mongod');
    if (mongod === undefined) throw new Error('There is no mongod to stop.');
    process.kill(mongod, 'SIGSTOP');
    const client = new Client(hanging.url, token);
    const [ready, list, write] = await Promise.all([
      client.send('GET', '/readyz'),
      client.send('GET', '/api/plants'),
      client.send('POST', '/api/plants', { body: { name: 'Fern' } }),
    ]);
    for (const reply of [ready, list, write]) {
      expect(reply.status).toBe(503);
      expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
    await hanging.stop();
    expect(await runningServers(dataDir)).toEqual([]);
  });

  /** The number of pipelined requests on a connection, below its limit. */
  const AHEAD = 90;

  /** Sends a request as from a new address, which is not delayed. */
  async function askOften({ url }: RealServer, address: string): Promise<void> {
    const request = [
      'GET /healthz HTTP/1.1',
      'Host: localhost',
      `X-Forwarded-For: ${address}`,
      `X-Request-Id: ${'x'.repeat(128)}`,
    ].join('\r\n');
    const ahead = `${request}\r\n\r\n`.repeat(AHEAD - 1);
    const { status, body } = await exchange(url, `${ahead}${request}\r\nConnection: close\r\n\r\n`);
    expect(status).toBe(200);
    expect(body.match(/HTTP\/1\.1 200 /g)).toHaveLength(AHEAD - 1);
  }

  test('exits without delay, and without delayed responses, if its log is not read', async () => {
    const unread = await aServer();
    const { stderr } = unread.process;
    stderr?.pause();
    let asked = 0;
    const isFull = async (): Promise<boolean> => {
      asked += 1;
      await askOften(unread, `10.0.0.${asked}`);
      const dropped = valueOf(await scrape(unread.url), 'plantcare_log_lines_dropped_total');
      return (dropped ?? 0) > 0;
    };
    await until(isFull);
    await askOften(unread, '10.0.1.1');
    // Its output ends only once it is read.
    const ended = once(unread.process, 'exit');
    unread.process.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await runningServers(dataDir)).toEqual([]);
    stderr?.resume();
  });
});

describe('if a program cannot start,', () => {
  let emptyDir: string;
  beforeEach(async () => {
    emptyDir = await dataDirectory();
  });
  afterEach(() => removeDataDirectory(emptyDir));

  test('because its port is in use, it says so in one sentence, and leaves nothing running', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // It listens on TCP.
    const failing = await failToStart(emptyDir, { PORT: String(port) });
    other.close();
    expect(failing.process.exitCode).toBe(1);
    expect(failing.stdout).toBe('');
    expectOneSentence(failing.stderr);
    expect(failing.stderr).toContain(String(port));
    expect(await runningServers(emptyDir)).toEqual([]);
  });

  test('because settings are invalid, it reports all of them before it starts anything', async () => {
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
    const failing = await failToStart(emptyDir, { ...wrong, ...files });
    expect(failing.process.exitCode).toBe(2);
    expect(failing.stdout).toBe('');
    const lines = failing.stderr.trim().split('\n');
    const names = [...Object.keys(wrong), ...Object.keys(files)];
    expect(lines).toHaveLength(names.length);
    for (const name of names) {
      expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
    }
    expect(await readdir(emptyDir)).toEqual([]);
  });
});
