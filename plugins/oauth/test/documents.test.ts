import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { HOUR_MS } from '../../../src/core/time';
import { resetClock, setClock } from '../../../test/support/clock';
import { listening } from '../../../test/support/listening';
import { fetchAsIs, fetchFrom, startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { until } from '../../../test/support/processes';
import { bodyOf } from '../../../test/support/shapes';
import { ClientKey } from './support/assertion';
import { person, type Person } from './support/people';
import { CALLBACK, Phone } from './support/phone';

/** The origin of metadata documents. */
const ORIGIN = 'https://assistants.example';

let service: TestService;
let ada: Person;
let server: Server;
let url: string;
/** The paths that were fetched. */
const asked: string[] = [];
/** Responses that are never sent. */
let held: ServerResponse[] = [];
let isPrompt = false;
beforeAll(async () => {
  server = createServer(answer);
  url = `http://127.0.0.1:${await listening(server)}`;
  fetchFrom(ORIGIN, url);
  service = await startService({ env: { TRUST_PROXY: '1' } });
  ada = await person(service);
});
const begun = Date.now();
let minutes = 0;
// Each test has the budget of another minute for its fetches.
beforeEach(() => {
  minutes += 1;
  setClock(begun + minutes * 60_000);
});
afterAll(async () => {
  resetClock();
  fetchAsIs();
  await service.close();
  server.closeAllConnections();
  server.close();
});

const documents: Record<string, object> = {
  '/good': { client_name: 'Fern watcher' },
  '/waiting': {},
  '/other': { client_id: `${ORIGIN}/good` },
  '/huge': { client_name: 'Fern watcher', padding: 'x'.repeat(20_000) },
  '/secret': { client_secret: 'x'.repeat(43), token_endpoint_auth_method: 'client_secret_post' },
  '/own-name': { client_name: 'Ferns (assistants.example)' },
  '/foreign': { client_name: 'Claude (claude.ai)' },
  '/parent': { client_name: 'Ferns by assistants.example.com' },
  '/mail': { redirect_uris: [CALLBACK, 'mailto:ada@a.example'] },
  '/fragment': { redirect_uris: ['https://evil.example/#part'] },
};

function answer({ url: path = '' }: IncomingMessage, response: ServerResponse): void {
  asked.push(path);
  if (path.startsWith('/slow') && !isPrompt) {
    held.push(response);
    return;
  }
  if (path === '/redirect') {
    response.writeHead(302, { Location: '/good' }).end();
    return;
  }
  if (path.startsWith('/redirect-inside')) {
    response.writeHead(307, { Location: elsewhere }).end();
    return;
  }
  const content = { client_id: ORIGIN + path, redirect_uris: [CALLBACK], ...documents[path] };
  const isThere = path in documents || path.startsWith('/patient/');
  response.writeHead(isThere ? 200 : 404, { 'Content-Type': 'application/json' });
  response.end(path === '/garbage' ? '{' : JSON.stringify(content));
}

test('a client with a metadata document is authorized, and the page names its host', async () => {
  const phone = new Phone(service, ada, `${ORIGIN}/good`);
  await phone.browser.submit(await phone.browser.go('/sign-in'), { ...ada });
  const page = await phone.browser.go(phone.asks());
  expect(page.text).toContain('Fern watcher (assistants.example)');
  const { access_token: token, refresh_token: refresh } = await phone.tokens();
  await userOf(service.url, '', token).get('/api/plants').expect(200);
  await phone.refresh(refresh).expect(200);
  expect(asked.filter((path) => path === '/good')).toHaveLength(1);
});

test('a document that could not be fetched is not fetched again within a minute', async () => {
  const phone = new Phone(service, ada, `${ORIGIN}/gone`);
  for (let times = 0; times < 5; times += 1) await phone.browser.go(phone.asks());
  expect(asked.filter((path) => path === '/gone')).toHaveLength(1);
});

test('a document may name its own host', async () => {
  const phone = new Phone(service, ada, `${ORIGIN}/own-name`);
  await phone.browser.submit(await phone.browser.go('/sign-in'), { ...ada });
  const { text } = await phone.browser.go(phone.asks());
  expect(text).toContain('<h1>Ferns (assistants.example) wants access');
  expect(text).toMatch(/class="verified">Verified: [^<]*<strong>assistants\.example<\/strong>/);
});

test.each([
  'foreign',
  'parent',
  'mail',
  'redirect',
  'slow',
  'huge',
  'other',
  'secret',
  'fragment',
  'missing',
  'garbage',
])('a document is refused on a page: %s', async (path) => {
  const phone = new Phone(service, ada, `${ORIGIN}/${path}`);
  const page = await phone.browser.go(phone.asks());
  expect([page.status, page.url.origin]).toEqual([400, service.url]);
  expect(page.text).toMatch(/role="alert">[^<]{10,}\.</);
  expect(bodyOf(await phone.exchange('a code'))['error']).toMatch(/^invalid_(client|redirect_uri)/);
  expect(asked).toContain(`/${path}`);
});

/** Starts an authorization of a client whose document is at a path, from an address. */
function ask(path: string, address: string) {
  const { pathname, search } = new Phone(service, ada, ORIGIN + path).asks();
  return service.anonymous.get(pathname + search).set('X-Forwarded-For', address);
}

function timesAsked(path: string): number {
  return asked.filter((each) => each.startsWith(path)).length;
}

test('an IPv6 network may cause 20 fetches of documents a minute, whatever its addresses', async () => {
  for (let each = 0; each < 25; each += 1) {
    await ask(`/network/${each}`, `2001:db8:0:7::${each.toString(16)}`).expect(400);
  }
  expect(timesAsked('/network/')).toBe(20);
  const { text } = await ask('/network/more', '2001:db8:0:7:ffff::1').expect(400);
  expect(text).toContain('Too many attempts');
  await ask('/good', '2001:db8:0:8::1').expect(303);
});

/** Has documents asked for that are never sent, 20 for each network, until `isFull`. */
async function fill(count: number, isFull: (fill: { path: string; refused: number }) => boolean) {
  const path = randomUUID();
  const network = `2001:db8:${path.slice(0, 4)}`;
  let refused = 0;
  const pending = Array.from({ length: count }, async (_, each) => {
    const address = `${network}:${Math.floor(each / 20).toString(16)}::1`;
    const { status, text } = await ask(`/slow/${path}/${each}`, address);
    if (text.includes('Too many attempts')) refused += 1;
    return status;
  });
  await until(async () => isFull({ path, refused }));
  return pending;
}

test('the deadline of a fetch begins with its turn', async () => {
  const pending = await fill(40, ({ path }) => timesAsked(`/slow/${path}/`) >= 32);
  await ask('/waiting', '2001:db8:2::1').expect(303);
  expect(await Promise.all(pending)).toEqual(pending.map(() => 400));
});

test('a document that got no turn in a full queue is fetched soon after', async () => {
  held = [];
  const pending: Promise<number>[] = [];
  let patient = '';
  await until(async () => {
    pending.push(...(await fill(400, ({ refused }) => refused > 0)));
    const each = randomUUID();
    patient = `/patient/${each}`;
    const { text } = await ask(patient, `2001:db8:2:${each.slice(0, 4)}::1`);
    return text.includes('Too many attempts');
  });
  expect(timesAsked(patient)).toBe(0);
  isPrompt = true;
  for (const response of held) response.writeHead(404).end();
  expect(await Promise.all(pending)).toEqual(pending.map(() => 400));
  await ask(patient, '2001:db8:3::1').expect(303);
  isPrompt = false;
});

test('an address may cause 20 fetches of documents a minute', async () => {
  const before = asked.length;
  for (let each = 0; each < 25; each += 1) {
    const phone = new Phone(service, ada, `${ORIGIN}/many/${each}`);
    expect((await phone.browser.go(phone.asks())).status).toBe(400);
  }
  expect(asked.length - before).toBeLessThanOrEqual(20);
});

async function warnings(): Promise<unknown> {
  return bodyOf(await service.anonymous.get('/readyz').expect(200))['warnings'];
}

/** The page for a client whose document is at a URL. */
async function pageOf(clientId: string, language = 'en'): Promise<string> {
  const { pathname, search } = new Phone(service, ada, clientId).asks();
  const asking = service.anonymous.get(pathname + search);
  return (await asking.set('Accept-Language', language).expect(400)).text;
}

test('the page says what to do about a host that cannot be reached', async () => {
  const nowhere = 'https://nowhere.invalid/client.json';
  expect(await pageOf(nowhere)).toMatch(/operator should set CLIENT_METADATA_DOCUMENTS=false/);
  expect(await pageOf(nowhere, 'fr')).toMatch(
    /exploitant doit régler CLIENT_METADATA_DOCUMENTS=false/,
  );
});

const CLAUDE = 'https://claude.ai';
/** Nothing listens there. */
const UNREACHABLE = 'http://127.0.0.1:1';

test.each([
  'https://nowhere.invalid/client.json',
  'https://claude.ai.invalid/oauth/claude-code-client-metadata',
  `${CLAUDE}:9/oauth/claude-code-client-metadata`,
  `${CLAUDE}/oauth/claude-code-client-metadata?`,
  `${CLAUDE}/another/document`,
  'https://10.0.0.1/client.json',
])('a document that a stranger makes up warns no operators: %s', async (named) => {
  fetchFrom(CLAUDE, UNREACHABLE);
  for (const part of ['', '1', '2', '3']) expect(await pageOf(named + part)).toContain('could not');
  expect(await warnings()).toEqual([]);
});

test('operators are warned if an assistant cannot be reached, until another host is, or for an hour', async () => {
  const expectCutOff = async (path: string) => {
    fetchFrom(CLAUDE, UNREACHABLE);
    await pageOf(CLAUDE + path);
    const warning = `could not fetch ${CLAUDE}${path}.*CLIENT_METADATA_DOCUMENTS=false`;
    expect(await warnings()).toEqual([expect.stringMatching(warning)]);
  };
  await expectCutOff('/oauth/claude-code-client-metadata');
  fetchFrom(ORIGIN, url);
  await ask('/any', '2001:db8:3::1').expect(400);
  expect(await warnings()).toEqual([]);
  await expectCutOff('/oauth/mcp-oauth-client-metadata');
  setClock(Date.now() + HOUR_MS);
  expect(await warnings()).toEqual([]);
  fetchFrom(ORIGIN, url);
});

/** Where a document redirects to. */
let elsewhere: string;

test('no redirect of a document is followed to a private address', async () => {
  const visited: string[] = [];
  const inside = createServer(({ url: path = '' }, response) => {
    visited.push(path);
    response.end('{}');
  });
  elsewhere = `http://127.0.0.1:${await listening(inside)}/inside`;
  await ask('/redirect-inside', '2001:db8:4::1').expect(400);
  const metadata = {
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: `${ORIGIN}/redirect-inside?keys`,
  };
  const registering = service.anonymous.post('/oauth/register').send(metadata);
  const { client_id: id } = bodyOf(await registering.expect(201));
  const key = await ClientKey.make();
  const form = { grant_type: 'refresh_token', refresh_token: 'none' };
  const assertion = await key.assert(String(id), service.url);
  const sent = service.anonymous
    .post('/oauth/token')
    .type('form')
    .send({ ...form, ...assertion });
  expect(bodyOf(await sent.expect(401))['error']).toBe('invalid_client');
  expect([timesAsked('/redirect-inside'), visited]).toEqual([2, []]);
  inside.close();
});

test('a server without documents announces none, fetches none, and clients register', async () => {
  const env = { CLIENT_METADATA_DOCUMENTS: 'false' };
  const own = await startService({ env });
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    const found = bodyOf(await own.anonymous.get(`/.well-known/${name}`).expect(200));
    expect(found).not.toHaveProperty('client_id_metadata_document_supported');
    expect(found).toHaveProperty('registration_endpoint');
  }
  const before = asked.length;
  const phone = new Phone(own, ada, `${ORIGIN}/good`);
  expect((await phone.browser.go(phone.asks())).status).toBe(400);
  expect(asked.length).toBe(before);
  const somebody = await person(own);
  const { access_token: token } = await (await Phone.register(own, somebody)).tokens();
  await userOf(own.url, '', token).get('/api/plants').expect(200);
  await own.close();
});
