import { once } from 'node:events';
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Server as HttpServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { connect as connectTls } from 'node:tls';

import pino from 'pino';

import { listening } from '../support/listening';
import { errorOf, type RawAnswer } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import type { TlsSettings } from '../support/tls';
import {
  App,
  closeHttpServer,
  createHttpServer,
  loadPlugins,
  startService,
  tlsSettings,
} from '../support/program';

let tls: TlsSettings;
let ca: string;
let service: TestService;
let user: TestUser;
let secure: App;
let server: Server;
let url: string;
let session: ClientHttp2Session;

beforeAll(async () => {
  tls = tlsSettings();
  ca = tls.ca;
  service = await startService();
  user = await service.user();
  secure = new App({ plugins: loadPlugins(), env: tls.env, log: pino({ level: 'silent' }) });
  await secure.connect({ mongodbUri: service.mongodbUri });
  server = createHttpServer(secure.requestListener(), secure.settings);
  url = `https://localhost:${await listening(server)}`;
  session = connectHttp2(url, { ca });
});
afterAll(async () => {
  session.destroy();
  await closeHttpServer(server, 60_000);
  await secure.close();
  await service.close();
  tls.remove();
});

function viaHttp1(method: string, at: string, headers: Record<string, string> = {}) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const sent = request(`${url}${at}`, { method, ca, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

function viaHttp2(headers: IncomingHttpHeaders, body?: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let status = 0;
    let answered: IncomingHttpHeaders = {};
    let text = '';
    stream.on('response', (given) => {
      status = given[':status'] ?? 0;
      answered = given;
    });
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', reject);
    stream.on('end', () => {
      resolve({ status, headers: answered, body: text });
    });
    if (body !== undefined) stream.end(body);
  });
}

test('HTTPS serves HTTP/1.1, with Strict-Transport-Security', async () => {
  const answer = await viaHttp1('GET', '/healthz');
  expect(answer.status).toBe(200);
  expect(answer.headers['strict-transport-security']).toMatch(/^max-age=\d+/);
  expect(answer.headers['x-request-id']).toBeDefined();
});

test('without a certificate there is no Strict-Transport-Security', async () => {
  const answer = await service.anonymous.get('/healthz').expect(200);
  expect(answer.headers).not.toHaveProperty('strict-transport-security');
});

test('HTTPS serves HTTP/2', async () => {
  const answer = await viaHttp2({ ':path': '/api/plants', authorization: `Bearer ${user.token}` });
  expect([answer.status, answer.body]).toEqual([200, '[]']);
});

test('errors over HTTP/2 have the Error body', async () => {
  const missing = await viaHttp2({ ':path': '/nothing' });
  expect([missing.status, errorOf(missing).code]).toEqual([404, 'not_found']);
  const unknown = await viaHttp2({ ':path': '/api/plants', ':method': 'PROPFIND' });
  expect([unknown.status, errorOf(unknown).code]).toEqual([405, 'method_not_allowed']);
});

test('HEAD over HTTP/2 has the headers of GET and no body', async () => {
  const get = await viaHttp2({ ':path': '/healthz' });
  const head = await viaHttp2({ ':path': '/healthz', ':method': 'HEAD' });
  expect([head.status, head.body]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
});

test('CONNECT over HTTP/2 is answered with 405 and the Error body', async () => {
  const answer = await viaHttp2({ ':method': 'CONNECT', ':authority': 'example.com:443' });
  expect(answer.status).toBe(405);
  expect(answer.headers['x-request-id']).toBeDefined();
  expect(errorOf(answer).code).toBe('method_not_allowed');
});

test('over HTTP/2 the authority says which host a request is for, whatever its Host says', async () => {
  const answer = await viaHttp2({
    ':path': '/api/mcp',
    ':method': 'POST',
    ':authority': 'example.com',
    host: 'localhost',
    authorization: `Bearer ${user.token}`,
  });
  expect(answer.status).toBe(403);
  expect(errorOf(answer).code).toBe('origin_not_allowed');
});

test('an expectation that cannot be met over HTTP/2 is answered with the Error body', async () => {
  const answer = await viaHttp2({ ':path': '/healthz', expect: 'ferns' });
  expect(answer.status).toBe(417);
  errorOf(answer);
});

test.each([
  ['a word', 'hello\r\n\r\n', 400],
  ['HTTP/1.1 without Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['too long a header', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
])('%s over HTTPS is answered with the Error body', async (_, bytes, status) => {
  const { port } = new URL(url);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connectTls({
      port: Number(port),
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
    });
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(received);
    });
    socket.write(bytes);
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^x-request-id: /im);
  errorOf({ body });
});

test('a server that closes sends HTTP/2 clients GOAWAY, and answers requests in progress', async () => {
  const own = createHttpServer(secure.requestListener(), secure.settings);
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
  const idle = connectHttp2(`https://localhost:${(own.address() as AddressInfo).port}`, { ca });
  await once(idle, 'connect');
  const gone = once(idle, 'close');
  const stream = idle.request({ ':path': '/api/plants', authorization: `Bearer ${user.token}` });
  const answered = once(stream, 'response');
  stream.resume();
  await once(own, 'request');
  await closeHttpServer(own, 60_000);
  await gone;
  expect((await answered)[0]).toMatchObject({ ':status': 200 });
});

test('requests with unknown methods are counted under no operation', async () => {
  for (const method of ['GARDEN', 'WATER']) await viaHttp2({ ':path': '/', ':method': method });
  const { body } = await viaHttp2({ ':path': '/metrics' });
  expect(body).toContain('operation="none",status="405"');
  expect(body).not.toMatch(/GARDEN|WATER/);
});

test('a request over HTTPS may take no longer to arrive than one over HTTP', () => {
  const plain = createHttpServer(service.app.requestListener(), service.app.settings);
  const limits = ({ headersTimeout, requestTimeout }: Partial<HttpServer>) => ({
    headersTimeout,
    requestTimeout,
  });
  expect(limits(server as HttpServer)).toEqual(limits(plain as HttpServer));
});
