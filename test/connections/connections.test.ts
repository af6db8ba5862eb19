import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { HttpLimits } from '../../src/http/limits';
import { type RefusalStatus, countRefusals } from '../../src/http/server';
import { expectNoneLeft } from '../support/connections';
import { listening } from '../support/listening';
import { until } from '../support/processes';
import { exchange } from '../support/raw';
import type { TestService } from '../support/service';
import { closeHttpServer, createHttpServer, startService } from '../support/program';
import { Metrics } from '../../src/core/metrics';

let service: TestService;
const servers: Server[] = [];
const clients: Socket[] = [];

beforeAll(async () => {
  service = await startService();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) await closeHttpServer(server, 10_000);
});
afterAll(() => service.close());

/** A server with the given limits, which it checks often. */
async function serve(limits: Partial<HttpLimits>) {
  const { app } = service;
  const refusals: RefusalStatus[] = [];
  const onRefusal = (status: RefusalStatus): void => void refusals.push(status);
  const options = { connectionsCheckingInterval: 50, onRefusal, ...limits };
  const server = createHttpServer(app.requestListener(), app.settings, options);
  servers.push(server);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const port = await listening(server);
  return { server, sockets, refusals, url: `http://127.0.0.1:${port}` };
}

test('responses state how long the connection is kept alive', async () => {
  const { headers } = await fetch(`${service.url}/healthz`);
  expect(headers.get('keep-alive')).toBe('timeout=60, max=1000');
});

/** A client that never closes its side, and what it has received. */
async function dial(url: string) {
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  clients.push(socket);
  const client = { socket, received: '' };
  socket.on('data', (chunk: Buffer) => (client.received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return client;
}

function get(path: string, last = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
}

function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

test('a closing server finishes the requests in progress, and ends idle connections', async () => {
  const { server, url } = await serve({});
  const [busy, idle] = [await dial(url), await dial(url)];
  const ended = [busy, idle].map(({ socket }) => once(socket, 'end'));
  const last = get('/openapi.json', 'Connection: close\r\n');
  busy.socket.write(get('/openapi.json').repeat(9) + last);
  await until(() => busy.received.length > 0);
  expect(await closeHttpServer(server, 60_000)).toBe(0);
  await Promise.all(ended);
  expect(statusesOf(busy.received)).toEqual(Array(10).fill(200));
  expect(idle.received).toBe('');
});

describe('pipelined requests', () => {
  test('for the OpenAPI document do not delay other clients', async () => {
    const { url } = await serve({});
    const client = await dial(url);
    const last = get('/openapi.json', 'Connection: close\r\n');
    const ended = once(client.socket, 'end');
    client.socket.write(get('/openapi.json').repeat(99) + last);
    await until(() => client.received.length > 0);
    const started = performance.now();
    expect((await exchange(url, get('/healthz', 'Connection: close\r\n'))).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(1500);
    // Searching for all of them repeatedly takes longer than sending them.
    await ended;
    expect(statusesOf(client.received)).toEqual(Array(100).fill(200));
  });

  test('get responses one by one, so a client that does not read gets only one', async () => {
    const { url, sockets } = await serve({});
    const client = await dial(url);
    client.socket.pause();
    client.socket.write(get('/docs/swagger-ui-bundle.js').repeat(90));
    await until(() => (sockets[0]?.bytesWritten ?? 0) > 100_000);
    await sleep(500);
    // The buffers of the system, and a slice; 90 responses have 156 MB.
    expect(sockets[0]?.bytesWritten).toBeLessThan(20_000_000);
    expect(sockets[0]?.writableLength).toBeLessThan(200_000);
  });

  test('are limited to 100: a connection with more is closed, and does not delay a shutdown', async () => {
    const { server, url } = await serve({});
    const client = await dial(url);
    client.socket.write(get('/docs/swagger-ui-bundle.js').repeat(102));
    await expectNoneLeft(server);
    const started = performance.now();
    expect(await closeHttpServer(server, 10_000)).toBe(0);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('a connection is closed', () => {
  test('if only empty lines arrive', async () => {
    const own = await serve({ headersTimeout: 300 });
    const { socket } = await dial(own.url);
    const timer = setInterval(() => socket.write('\r\n'), 50);
    await expectNoneLeft(own.server);
    clearInterval(timer);
  });

  test('if the client does not read its response', async () => {
    const own = await serve({ timeout: 300 });
    const { socket } = await dial(own.url);
    socket.pause();
    socket.write(get('/docs/swagger-ui-bundle.js').repeat(20));
    await expectNoneLeft(own.server);
  });

  test.each([
    ['a request that is not HTTP', 'hello\r\n\r\n', 400],
    ['a request that does not arrive', 'GET / HT', 408],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
  ])(
    'after the response to %s, even if the client keeps its side open',
    async (_, bytes, status) => {
      const own = await serve({ headersTimeout: 200, requestTimeout: 200 });
      const client = await dial(own.url);
      client.socket.write(bytes);
      await once(client.socket, 'end');
      expect(statusesOf(client.received)).toEqual([status]);
      await expectNoneLeft(own.server);
    },
  );

  test('but not while the client reads a long response slowly', async () => {
    const { url } = await serve({ timeout: 600, keepAliveTimeout: 600 });
    const { socket } = await dial(url);
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 5);
    });
    socket.write(
      get('/docs/swagger-ui-bundle.js').repeat(4) + get('/healthz', 'Connection: close\r\n'),
    );
    await once(socket, 'end');
    expect(bytes).toBeGreaterThan(4 * 1_500_000);
  });
});

test('connections above the limit are closed and counted, and others stay open', async () => {
  const { url, refusals } = await serve({ maxConnections: 3 });
  const first = await dial(url);
  const open = [first, await dial(url), await dial(url)];
  const lost = await Promise.all(Array.from({ length: 5 }, () => dial(url)));
  for (const { socket } of lost) await until(() => socket.readableEnded || socket.destroyed);
  expect(refusals).toEqual(Array.from({ length: 5 }, () => 'none'));
  for (const { socket } of open) socket.write(get('/healthz'));
  for (const client of open) await until(() => client.received.includes('"ok"'));
  first.socket.destroy();
  const last = get('/healthz', 'Connection: close\r\n');
  await until(async () => (await exchange(url, last)).status === 200);
});

test('the log reports refused connections once a minute, with their number', () => {
  jest.useFakeTimers();
  try {
    const lines: { refused: number }[] = [];
    // Only this method of a logger is needed.
    const log = { warn: (line: { refused: number }) => lines.push(line) } as unknown as Logger;
    const refuse = countRefusals(new Metrics(), log);
    for (const status of [400, 'none', 'none', 'none'] as const) refuse(status);
    expect(lines).toEqual([{ refused: 1 }]);
    jest.advanceTimersByTime(60_000);
    expect(lines).toEqual([{ refused: 1 }, { refused: 2 }]);
    jest.advanceTimersByTime(3_600_000);
    expect(lines).toHaveLength(2);
    refuse('none');
    expect(lines.at(-1)).toEqual({ refused: 1 });
  } finally {
    jest.useRealTimers();
  }
});

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';

test('a client that resets its connection after CONNECT affects no other client', async () => {
  const { server, url } = await serve({});
  const client = await dial(url);
  client.socket.write(CONNECT);
  await until(() => client.received.includes('method_not_allowed'));
  client.socket.resetAndDestroy();
  await expectNoneLeft(server);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('CONNECT gets the allowed methods', async () => {
  const answer = await exchange(service.url, CONNECT);
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
});
