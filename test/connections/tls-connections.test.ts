import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

import { expectNoneLeft } from '../support/connections';
import { listening } from '../support/listening';
import type { RefusalStatus } from '../../src/http/server';
import type { TestService } from '../support/service';
import type { TlsSettings } from '../support/tls';
import { closeHttpServer, createHttpServer, startService, tlsSettings } from '../support/program';

/** Missing in the type of its options. */
const HALF_OPEN: ConnectionOptions & { allowHalfOpen: boolean } = { allowHalfOpen: true };

let tls: TlsSettings;
let service: TestService;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  tls = tlsSettings();
  service = await startService();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await service.close();
  tls.remove();
});

interface Own {
  server: Server;
  port: number;
}

async function serve(
  limits: Parameters<typeof createHttpServer>[2],
  handler: Parameters<typeof createHttpServer>[0] = service.app.requestListener(),
): Promise<Own> {
  const server = createHttpServer(handler, tls.settings, {
    connectionsCheckingInterval: 50,
    ...limits,
  });
  closing.push(() => closeHttpServer(server, 10_000));
  return { server, port: await listening(server) };
}

/** A bare TLS connection. */
async function dialTls({ port }: Own, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: tls.ca,
    ...options,
  });
  closing.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  socket.resume();
  return socket;
}

test('a connection without a handshake is closed', async () => {
  const own = await serve({ handshakeTimeout: 200 });
  const socket = connectTcp({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  closing.push(() => socket.destroy());
  await once(own.server, 'connection');
  await expectNoneLeft(own.server);
});

test('a connection without a request after its handshake is closed', async () => {
  const own = await serve({ headersTimeout: 200, requestTimeout: 200 });
  await dialTls(own);
  await expectNoneLeft(own.server);
});

test.each([
  ['a request that does not arrive', 'GET / HT', 408],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
])(
  'a connection is closed after the response to %s, even if the client keeps its side open',
  async (_, bytes, status) => {
    const own = await serve({ headersTimeout: 200, requestTimeout: 200 });
    // It acknowledges neither the end of TLS nor that of TCP.
    const raw = connectTcp({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
    closing.push(() => raw.destroy());
    const socket = await dialTls(own, { ...HALF_OPEN, socket: raw });
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(bytes);
    await once(socket, 'end');
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await expectNoneLeft(own.server);
    expect(raw.writable).toBe(true);
  },
);

test('connections above the limit are closed and counted, and others stay open', async () => {
  const refusals: RefusalStatus[] = [];
  const own = await serve({ maxConnections: 1, onRefusal: (status) => refusals.push(status) });
  const socket = await dialTls(own);
  await expect(dialTls(own)).rejects.toThrow();
  expect(refusals).toEqual(['none']);
  const answered = once(socket, 'data');
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 200 /);
});

test('a connection whose client does not read the response is closed', async () => {
  const own = await serve({ timeout: 300 });
  const socket = await dialTls(own);
  socket.pause();
  socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
  await expectNoneLeft(own.server);
});

test('a client that has closed its side still gets the response to invalid HTTP', async () => {
  const socket = await dialTls(await serve({}), HALF_OPEN);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  socket.end('no HTTP\r\n\r\n');
  await once(socket, 'end');
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
});
