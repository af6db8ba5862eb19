import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { resetClock, setClock } from '../../../test/support/clock';
import { listening } from '../../../test/support/listening';
import { fetchAsIs, fetchFrom, startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { CALLBACK, Phone } from './support/phone';

/** The origin of metadata documents. */
const ORIGIN = 'https://assistants.example';

let service: TestService;
let ada: Person;
let server: Server;
/** The paths that were fetched. */
const asked: string[] = [];
beforeAll(async () => {
  server = createServer(answer);
  fetchFrom(ORIGIN, `http://127.0.0.1:${await listening(server)}`);
  service = await startService({});
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
  '/other': { client_id: `${ORIGIN}/good` },
  '/huge': { client_name: 'Fern watcher', padding: 'x'.repeat(20_000) },
  '/secret': { client_secret: 'x'.repeat(43), token_endpoint_auth_method: 'client_secret_post' },
  '/fragment': { redirect_uris: ['https://evil.example/#part'] },
};

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  asked.push(url);
  // Never responds.
  if (url === '/slow') return;
  if (url === '/redirect') {
    response.writeHead(302, { Location: '/good' }).end();
    return;
  }
  const content = { client_id: ORIGIN + url, redirect_uris: [CALLBACK], ...documents[url] };
  response.writeHead(url in documents ? 200 : 404, { 'Content-Type': 'application/json' });
  response.end(url === '/garbage' ? '{' : JSON.stringify(content));
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

test.each(['redirect', 'slow', 'huge', 'other', 'secret', 'fragment', 'missing', 'garbage'])(
  'a document is refused on a page: %s',
  async (path) => {
    const phone = new Phone(service, ada, `${ORIGIN}/${path}`);
    const page = await phone.browser.go(phone.asks());
    expect([page.status, page.url.origin]).toEqual([400, service.url]);
    expect(page.text).toMatch(/role="alert">[^<]{10,}\.</);
    expect(bodyOf(await phone.exchange('a code'))['error']).toMatch(
      /^invalid_(client|redirect_uri)/,
    );
    expect(asked).toContain(`/${path}`);
  },
);

test('an address may cause 20 fetches of documents a minute', async () => {
  const before = asked.length;
  for (let each = 0; each < 25; each += 1) {
    const phone = new Phone(service, ada, `${ORIGIN}/many/${each}`);
    expect((await phone.browser.go(phone.asks())).status).toBe(400);
  }
  expect(asked.length - before).toBeLessThanOrEqual(20);
});
