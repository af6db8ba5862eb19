import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { listening } from '../support/listening';
import { errorOf, exchange, type RawAnswer, send } from '../support/raw';
import type { TestService } from '../support/service';
import { createHttpServer, startService } from '../support/program';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

function expectWhole(answer: RawAnswer, status: number): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)));
  expect(answer.headers['x-request-id']).toMatch(UUID);
  expect(answer.headers.connection).toBe('close');
  errorOf(answer);
}

test.each([
  ['a word', 'hello\r\n\r\n'],
  ['an unknown method', 'FERN / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['a TLS handshake', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00, 0xa1])],
  ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
  ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['a length that is none', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: much\r\n\r\n'],
  [
    'a length beside chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'an unknown coding of the transfer',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n',
  ],
])('%s gets 400 and the Error body', async (_, bytes) => {
  const answer = await exchange(service.url, bytes);
  expectWhole(answer, 400);
  expect(errorOf(answer)).toEqual({
    error: 'The request is not valid HTTP.',
    code: 'validation_error',
  });
});

test('HTTP/1.1 without Host gets 400 and the Error body', async () => {
  const answer = await exchange(service.url, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer.status).toBe(400);
  expect(answer.headers['x-request-id']).toMatch(UUID);
  expect(errorOf(answer).code).toBe('validation_error');
});

function withHost(host: string): string {
  return `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
}

test.each([
  ['two', 'x\r\nHOST: y'],
  ['two that are the same', 'x\r\nHost: x'],
  ['one that is no name', 'a b/c@'],
  ['one with a user', 'user@x'],
])('HTTP/1.1 with Host %s gets 400 and the Error body', async (_, host) => {
  const answer = await exchange(service.url, withHost(host));
  expect(answer.status).toBe(400);
  expect(errorOf(answer).code).toBe('validation_error');
});

test.each(['x:3000', '[::1]:3000', '127.0.0.1', 'xn--bcher-kva.example', 'a_b.example', ''])(
  'HTTP/1.1 with Host %j is accepted',
  async (host) => {
    expect((await exchange(service.url, withHost(host))).status).toBe(200);
  },
);

test('HTTP/1.0 needs no Host', async () => {
  const answer = await exchange(service.url, 'GET /healthz HTTP/1.0\r\n\r\n');
  expect(answer.status).toBe(200);
});

test('a malformed chunk gets 400 and the Error body', async () => {
  const user = await service.user();
  const answer = await exchange(
    service.url,
    'POST /api/plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
      `Authorization: Bearer ${user.token}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  );
  expect(answer.status).toBe(400);
  errorOf(answer);
});

test.each([
  ['a header', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['many headers', `GET / HTTP/1.1\r\nHost: x\r\n${'A: aaaaaaaaaaaaaaa\r\n'.repeat(1500)}\r\n`],
  ['a path', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
])('%s over 16 KiB gets 431 and the Error body', async (_, bytes) => {
  const answer = await exchange(service.url, bytes);
  expectWhole(answer, 431);
  expect(errorOf(answer).error).toBe('The headers of the request are too large.');
});

test('headers of 15 KiB are accepted', async () => {
  const headers = { 'X-Long': 'a'.repeat(15_000) };
  expect((await send(service.url, 'GET', '/healthz', { headers })).status).toBe(200);
});

/**
 * Everything that arrives on a connection after some bytes were sent, until it is closed.
 *
 * @param again bytes to send repeatedly once a response begins
 */
async function received(bytes: string, { ends = false, again = '' } = {}): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const timer = setInterval(() => {
    if (socket.writable && text !== '') socket.write(again);
  }, 10);
  if (ends) socket.end(bytes);
  else socket.write(bytes);
  await once(socket, 'close');
  clearInterval(timer);
  return text;
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

test.each([
  ['its client has closed its own side', { ends: true }],
  ['more of it comes all the while', { again: 'no HTTP' }],
])('bytes that are not HTTP get one response when %s', async (_, how) => {
  expect(statusesOf(await received('no HTTP\r\n\r\n', how))).toEqual([400]);
});

test('the error for bytes that are not HTTP is not mixed into a response that is being sent', async () => {
  const bundle = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';
  const text = await received(bundle, { again: 'no HTTP' });
  const start = text.indexOf('\r\n\r\n') + 4;
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
  expect(length).toBeGreaterThan(1_000_000);
  // It may be cut off, or followed by the response to the other request.
  expect(text.slice(start, start + length).includes('HTTP/1.1 ')).toBe(false);
});

test.each(['http://[::1/healthz', 'http://[/api/mcp'])(
  'the address %s gets 400',
  async (address) => {
    const answer = await exchange(
      service.url,
      `GET ${address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expectWhole(answer, 400);
  },
);

test('a request that times out gets 408 and the Error body', async () => {
  // Node checks for slow requests only twice a minute, so the test emits the error itself.
  const server = createHttpServer(() => undefined, service.app.settings);
  const port = await listening(server);
  server.once('connection', (socket: Socket) => {
    const reason = Object.assign(new Error('Too slow.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', reason, socket);
  });
  const answer = await exchange(`http://127.0.0.1:${port}`, 'GET / HT');
  await new Promise((resolve) => server.close(resolve));
  expectWhole(answer, 408);
});

test('the server times out requests that do not arrive', () => {
  const server = createHttpServer(() => undefined, service.app.settings);
  expect(server.headersTimeout).toBeGreaterThan(0);
  expect(server.requestTimeout).toBeGreaterThan(0);
});

test('CONNECT gets 405 and the Error body', async () => {
  const answer = await exchange(
    service.url,
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
  );
  expectWhole(answer, 405);
  expect(errorOf(answer).code).toBe('method_not_allowed');
});

test('an unknown expectation gets the Error body', async () => {
  const answer = await exchange(
    service.url,
    'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: ferns\r\nConnection: close\r\n\r\n',
  );
  expect(answer.status).toBe(417);
  expect(answer.headers['x-request-id']).toMatch(UUID);
  errorOf(answer);
});

test('a request to upgrade the protocol gets a normal response', async () => {
  const answer = await exchange(
    service.url,
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  expect(answer.status).toBe(200);
});

test('a target in absolute form is accepted', async () => {
  const answer = await exchange(
    service.url,
    'GET http://example.com/healthz HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n',
  );
  expect(answer.status).toBe(200);
});

test('pipelined requests get responses in order', async () => {
  const ask = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.write(ask('/healthz') + ask('/nothing') + ask('/healthz', 'Connection: close\r\n'));
  await ended;
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 200',
  ]);
});
