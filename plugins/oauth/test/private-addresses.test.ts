import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { once } from 'node:events';

import { backendOf } from '../../../test/support/backend';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { ClientKey } from './support/assertion';
import { CALLBACK } from './support/phone';

/** This machine, in every spelling that some resolver or parser takes for it. */
const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.8.9.10',
  '0.0.0.0',
  '0',
  'localhost',
  'LOCALHOST.',
  'plants.localhost',
  '①②⑦.0.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::1]',
  hostname(),
];

let service: TestService;
let shop: TestUser;
let key: ClientKey;
let listener: Server;
let port: number;
let connections = 0;
beforeAll(async () => {
  service = await startService({ jobs: false, env: { TRUST_PROXY: '1' } });
  shop = await backendOf(service, 'shop');
  key = await ClientKey.make();
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  listener.listen(0, '::');
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo); // It listens on TCP.
});
beforeEach(() => {
  connections = 0;
});
afterAll(async () => {
  await service.close();
  listener.close();
});

let senders = 0;
/** The headers of another client, which has a budget of its own. */
function fromAnother() {
  senders += 1;
  return { 'X-Forwarded-For': `198.51.100.${senders % 250}` };
}

/** The page for a client whose metadata document is at a URL. */
async function pageFor(clientId: string): Promise<string> {
  const query = { client_id: clientId, redirect_uri: CALLBACK, response_type: 'code' };
  const asked = service.anonymous.get('/oauth/authorize').query(query).set(fromAnother());
  return (await asked.expect(400)).text;
}

/** What a client gets that authenticates with keys at a URL. */
async function tokenAnswer(jwks: string) {
  const metadata = {
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: jwks,
  };
  const register = service.anonymous.post('/oauth/register').set(fromAnother());
  const { client_id: id } = bodyOf(await register.send(metadata).expect(201));
  const form = { grant_type: 'refresh_token', refresh_token: 'none' };
  const assertion = await key.assert(String(id), service.url);
  const sent = service.anonymous.post('/oauth/token').set(fromAnother()).type('form');
  return bodyOf(await sent.send({ ...form, ...assertion }).expect(401));
}

test('the listener counts connections', async () => {
  connect(port, '127.0.0.1').on('error', () => undefined);
  await once(listener, 'connection');
  expect(connections).toBe(1);
});

test.each(SPELLINGS)('no connection is made to %s', async (host) => {
  const origin = `https://${host}:${port}`;
  expect(await pageFor(`${origin}/client.json`)).toContain('could not fetch');
  expect((await tokenAnswer(`${origin}/keys.json`))['error']).toBe('invalid_client');
  const webhook = { url: `${origin}/hooks`, events: ['account.deleted'] };
  const made = await shop.post('/api/webhooks', webhook);
  if (made.status === 201) {
    const path = `/api/webhooks/${String(bodyOf(made)['id'])}`;
    await shop.post(`${path}/test`).expect(201);
    await service.runJob('webhook delivery');
    const { items } = bodyOf(await shop.get(`${path}/deliveries`).expect(200));
    expect(items).toMatchObject([{ attempts: 1, responseStatus: null }]);
    await shop.delete(path).expect(200);
  } else {
    expect(made.status).toBe(400);
  }
  expect(connections).toBe(0);
});

test('a port that is open, closed or silent makes no difference', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port: closedPort } = closed.address() as AddressInfo; // It listens on TCP.
  closed.close();
  const silent = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port: silentPort } = silent.address() as AddressInfo; // It listens on TCP.
  const seen = new Set<string>();
  for (const each of [port, closedPort, silentPort]) {
    const url = `https://127.0.0.1:${each}/client.json`;
    seen.add((await pageFor(url)).replaceAll(String(each), 'PORT'));
    seen.add(JSON.stringify(await tokenAnswer(url)));
  }
  expect(seen.size).toBe(2);
  silent.close();
});
