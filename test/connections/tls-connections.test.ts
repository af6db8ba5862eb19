import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Server } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

import { expectNoneLeft } from '../support/connections';
import { listening } from '../support/listening';
import { until } from '../support/processes';
import { errorOf } from '../support/raw';
import type { RefusalStatus } from '../../src/http/refused';
import type { TestService, TestUser } from '../support/service';
import type { TlsSettings } from '../support/tls';
import { closeHttpServer, createHttpServer, startService, tlsSettings } from '../support/program';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

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
  const server = createHttpServer(handler, tls.settings, { checkInterval: 50, ...limits });
  closing.push(() => closeHttpServer(server, 10_000));
  return { server, port: await listening(server) };
}

/** A bare TLS connection that speaks HTTP/2 only as far as it is written to. */
async function dialTls({ port }: Own, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: tls.ca,
    ALPNProtocols: ['h2'],
    ...options,
  });
  closing.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  socket.resume();
  return socket;
}

function dialHttp2({ port }: Own, initialWindowSize?: number): ClientHttp2Session {
  const url = `https://localhost:${port}`;
  const session = connectHttp2(url, {
    ca: tls.ca,
    ...(initialWindowSize === undefined ? {} : { settings: { initialWindowSize } }),
  });
  session.on('error', () => undefined);
  closing.push(() => {
    session.destroy();
  });
  return session;
}

/** A request whose body is still to come, and what it is answered. */
function postPlant(session: ClientHttp2Session, { token }: TestUser) {
  const stream = session.request({
    ':path': '/api/plants',
    ':method': 'POST',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  });
  const answer = { body: '' };
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => (answer.body += chunk.toString()));
  return { stream, answer };
}

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
const SETTINGS = frame(4, 0, 0);
/** `:method GET`, `:scheme https`, `:path /`, without the flag that says that this is all. */
const HALF_HEADERS = frame(1, 0, 1, Buffer.from([0x82, 0x87, 0x84]));

test('a connection that says nothing is closed', async () => {
  const own = await serve({ handshakeTimeout: 200 });
  const socket = connectTcp({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  closing.push(() => socket.destroy());
  await once(own.server, 'connection');
  await expectNoneLeft(own.server);
});

test('a connection of HTTP/1.1 that asks for nothing is closed', async () => {
  const own = await serve({ headersTimeout: 200, requestTimeout: 200, lingerTimeout: 200 });
  await dialTls(own, { ALPNProtocols: ['http/1.1'] });
  await expectNoneLeft(own.server);
});

test.each([
  ['a request that does not arrive', 'GET / HT', 408],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405],
])(
  'a connection is closed after the answer to %s, though its client keeps its own side open',
  async (_, bytes, status) => {
    const own = await serve({ headersTimeout: 200, requestTimeout: 200, lingerTimeout: 200 });
    // It answers neither the end of TLS nor that of TCP.
    const raw = connectTcp({ port: own.port, host: '127.0.0.1', allowHalfOpen: true });
    closing.push(() => raw.destroy());
    const socket = await dialTls(own, {
      ...{ socket: raw, allowHalfOpen: true, ALPNProtocols: ['http/1.1'] },
    });
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(bytes);
    await once(socket, 'end');
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await expectNoneLeft(own.server);
    expect(raw.writable).toBe(true);
  },
);

test.each([
  ['says nothing at all', ''],
  ['asks for nothing', Buffer.concat([Buffer.from(PREFACE), SETTINGS])],
  ['sends half of the headers', Buffer.concat([Buffer.from(PREFACE), SETTINGS, HALF_HEADERS])],
])('a connection of HTTP/2 that %s is closed', async (_, bytes) => {
  const own = await serve({ idleTimeout: 300 });
  const socket = await dialTls(own);
  socket.write(bytes);
  await expectNoneLeft(own.server);
});

test('a connection of HTTP/2 that sends a byte from time to time is closed', async () => {
  const own = await serve({ idleTimeout: 300 });
  const socket = await dialTls(own);
  const bytes = Buffer.concat([Buffer.from(PREFACE), SETTINGS]);
  let at = 0;
  const timer = setInterval(() => socket.write(bytes.subarray(at, (at += 1))), 50);
  await expectNoneLeft(own.server);
  clearInterval(timer);
});

test('an idle HTTP/2 client that got GOAWAY can connect again', async () => {
  const own = await serve({ idleTimeout: 300 });
  const session = dialHttp2(own);
  const goaway = once(session, 'goaway');
  const stream = session.request({ ':path': '/healthz' });
  stream.resume();
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  await goaway;
  await expectNoneLeft(own.server);
});

test('a body over HTTP/2 that is too long is answered, and its stream is closed', async () => {
  const own = await serve({ stallTimeout: 600_000, requestTimeout: 600_000, lingerTimeout: 100 });
  const user = await service.user();
  const session = dialHttp2(own);
  const { stream, answer } = postPlant(session, user);
  stream.write(`{"name":"${'x'.repeat(200_000)}`);
  const closed = once(stream, 'close');
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  expect(headers[':status']).toBe(413);
  await closed;
  expect(errorOf(answer).code).toBe('payload_too_large');
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  const next = session.request({ ':path': '/healthz' }).resume();
  expect((await once(next, 'response'))[0]).toMatchObject({ ':status': 200 });
});

test('streams that are reset as soon as they are opened are not looked at', async () => {
  const paths: (string | undefined)[] = [];
  const own = await serve({}, (request, response) => {
    paths.push(request.url);
    response.end();
  });
  const session = dialHttp2(own);
  await once(session, 'connect');
  const requests = Array.from({ length: 90 }, (_, index) => {
    const isReset = index % 3 !== 0;
    const stream = session.request({ ':path': isReset ? '/reset' : '/read' });
    stream.on('error', () => undefined).resume();
    if (isReset) stream.close(constants.NGHTTP2_CANCEL);
    return once(stream, 'close');
  });
  await Promise.all(requests);
  expect(paths.filter((each) => each === '/read')).toHaveLength(30);
  expect(paths.filter((each) => each === '/reset').length).toBeLessThan(30);
});

test('a body over HTTP/2 that does not arrive is answered with 408', async () => {
  const own = await serve({ requestTimeout: 300 });
  const user = await service.user();
  const { stream, answer } = postPlant(dialHttp2(own), user);
  const timer = setInterval(() => stream.write(' '), 50);
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  expect(headers[':status']).toBe(408);
  await until(() => answer.body.endsWith('}'));
  clearInterval(timer);
  expect(errorOf(answer).code).toBe('validation_error');
});

test('a connection of HTTP/2 whose client takes nothing of an answer is closed', async () => {
  const own = await serve({ stallTimeout: 300 });
  const session = dialHttp2(own, 0);
  const stream = session.request({ ':path': '/docs/swagger-ui-bundle.js' });
  stream.on('error', () => undefined);
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  // Other frames are no excuse.
  const timer = setInterval(() => session.ping(() => undefined), 50);
  await once(session, 'close');
  clearInterval(timer);
  await expectNoneLeft(own.server);
});

test('a connection of HTTP/2 has no more than 100 requests in progress', async () => {
  const session = dialHttp2(await serve({}));
  await once(session, 'remoteSettings');
  expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
});

test('connections above the limit are closed and counted, and those there go on', async () => {
  const refusals: RefusalStatus[] = [];
  const own = await serve({ maxConnections: 1, onRefusal: (status) => refusals.push(status) });
  const session = dialHttp2(own);
  await once(session, 'connect');
  await expect(dialTls(own)).rejects.toThrow();
  expect(refusals).toEqual(['none']);
  const stream = session.request({ ':path': '/healthz' });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  expect(headers).toMatchObject({ ':status': 200 });
});

test('who has closed its own side gets the answer to what is no HTTP', async () => {
  const socket = await dialTls(await serve({}), {
    ...{ ALPNProtocols: ['http/1.1'], allowHalfOpen: true },
  });
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  socket.end('no HTTP\r\n\r\n');
  await once(socket, 'end');
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
});

test('CONNECT over HTTP/2 is answered with the methods that there are', async () => {
  const session = dialHttp2(await serve({}));
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'a:1' });
  stream.resume();
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  expect(headers).toMatchObject({ ':status': 405, allow: 'GET, HEAD, POST, PATCH, DELETE' });
});
