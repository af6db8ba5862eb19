import { once } from 'node:events';
import type { Server } from 'node:http';
import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';

import pino from 'pino';

import { listening } from '../support/listening';
import { errorOf, type RawAnswer } from '../support/raw';
import type { TestService } from '../support/service';
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
let secure: App;
let server: Server;
let url: string;

beforeAll(async () => {
  tls = tlsSettings();
  ca = tls.ca;
  service = await startService();
  secure = new App({ plugins: loadPlugins(), env: tls.env, log: pino({ level: 'silent' }) });
  await secure.connect({ mongodbUri: service.mongodbUri });
  server = createHttpServer(secure.requestListener(), secure.settings);
  url = `https://localhost:${await listening(server)}`;
});
afterAll(async () => {
  await closeHttpServer(server, 60_000);
  await secure.close();
  await service.close();
  tls.remove();
});

function ask(method: string, at: string, from = url) {
  return new Promise<RawAnswer>((resolve, reject) => {
    const sent = request(`${from}${at}`, { method, ca, agent: false }, (response) => {
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

test('HTTPS serves HTTP/1.1, with Strict-Transport-Security', async () => {
  const answer = await ask('GET', '/healthz');
  expect(answer.status).toBe(200);
  expect(answer.headers['strict-transport-security']).toMatch(/^max-age=\d+/);
  expect(answer.headers['x-request-id']).toBeDefined();
});

test('without a certificate there is no Strict-Transport-Security', async () => {
  const answer = await service.anonymous.get('/healthz').expect(200);
  expect(answer.headers).not.toHaveProperty('strict-transport-security');
});

test('HTTPS offers no HTTP/2', async () => {
  const options = { host: 'localhost', ca, ALPNProtocols: ['h2', 'http/1.1'] };
  const socket = connectTls({ port: Number(new URL(url).port), ...options });
  await once(socket, 'secureConnect');
  expect(socket.alpnProtocol).toBe('http/1.1');
  socket.destroy();
});

test.each([
  ['a word', 'hello\r\n\r\n', 400],
  ['HTTP/1.1 without Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['too long a header', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
])('%s over HTTPS gets the Error body', async (_, bytes, status) => {
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

test('a closing server finishes requests in progress', async () => {
  const own = createHttpServer(secure.requestListener(), secure.settings);
  const answered = ask('GET', '/healthz', `https://localhost:${await listening(own)}`);
  await once(own, 'request');
  await closeHttpServer(own, 60_000);
  expect((await answered).status).toBe(200);
});

test('requests with unknown methods are counted under no operation', async () => {
  for (const method of ['PROPFIND', 'MKCOL']) await ask(method, '/api/plants');
  const { body } = await ask('GET', '/metrics');
  expect(body).toContain('operation="none",status="405"');
  expect(body).not.toMatch(/PROPFIND|MKCOL/);
});

test('HTTPS has the same time limits for requests as HTTP', () => {
  const plain = createHttpServer(service.app.requestListener(), service.app.settings);
  const limits = ({ headersTimeout, requestTimeout }: Server) => ({
    headersTimeout,
    requestTimeout,
  });
  expect(limits(server)).toEqual(limits(plain));
});
