import { hashOf } from '../../../src/core/identity';
import { accountsPlugin, oauthPlugin, startService, userOf } from '../../../test/support/program';
import { record } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { until } from '../../../test/support/processes';
import type { TestService } from '../../../test/support/service';
import { Browser } from './support/browser';
import { inviteTo, PASSWORD, person } from './support/people';
import { Phone } from './support/phone';

let service: TestService;
beforeAll(async () => {
  // A service of its own: starting many authorizations spends the budget of the address.
  service = await startService({});
});
afterEach(resetClock);
afterAll(() => service.close());

async function signedIn(name: string): Promise<Browser> {
  const browser = new Browser(service.url);
  const page = await browser.go('/sign-in');
  await browser.submit(page, { name, password: PASSWORD });
  return browser;
}

const NEXT = 'eight blue ferns';

async function changePassword(browser: Browser): Promise<void> {
  const page = await browser.go('/settings');
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, action: 'setPassword', now: PASSWORD, password: NEXT });
  const { url } = await browser.go('/settings', { method: 'POST', body });
  expect(url.search).toBe('?done=passwordSet');
}

const stored = (filter: object) =>
  service.app.database.connection.collection('oauthState').countDocuments(filter);

test('a session that ends while its cookie is in use stays ended', async () => {
  const ada = await person(service);
  const phone = await Phone.register(service, ada);
  for (let times = 0; times < 5; times += 1) {
    const browser = await signedIn(ada.name);
    const cookie = browser.cookie('session') ?? '';
    const thief = new Browser(service.url);
    thief.setCookie('session', cookie);
    const page = await browser.go('/settings');
    await Promise.all([
      ...Array.from({ length: 8 }, () => thief.go(phone.asks())),
      browser.submit(page, {}),
    ]);
    thief.setCookie('session', cookie);
    expect((await thief.go('/settings')).url.pathname).toBe('/sign-in');
  }
});

test('a sign-in during the deletion of its account leaves nothing behind', async () => {
  const accounts = service.app.exportsOf(accountsPlugin);
  for (let times = 0; times < 5; times += 1) {
    const { name } = await person(service);
    await Promise.all([
      ...Array.from({ length: 4 }, () => signedIn(name)),
      accounts.data.deleteUser(name, () => undefined),
    ]);
    expect(await stored({ userId: name })).toBe(0);
  }
});

test.each<[string, (name: string, browser: Browser) => Promise<unknown>]>([
  ['a new password in another browser', async (name) => changePassword(await signedIn(name))],
  ['a new password in this browser', async (_name, browser) => changePassword(browser)],
  [
    'a new invitation',
    async (name) => {
      const other = new Browser(service.url);
      await other.submit(await other.go(await inviteTo(service, name)), { password: NEXT });
    },
  ],
  [
    'the end of its session',
    (name) => service.app.exportsOf(oauthPlugin).endSessions({ user: name }),
  ],
  ['signing out', async (_name, browser) => browser.submit(await browser.go('/settings'), {})],
])('a consent that was not yet returned to its app is void after %s', async (_what, change) => {
  for (const isSignedIn of [false, true]) {
    const ada = await person(service);
    const phone = await Phone.register(service, ada);
    const { browser } = phone;
    if (isSignedIn) await browser.submit(await browser.go('/sign-in'), { ...ada });
    let page = await browser.go(phone.asks());
    if (!isSignedIn) page = await browser.submit(page, { ...ada });
    const allowed = await browser.submit(page, { answer: 'allow' }, { follow: false });
    expect(allowed.url.pathname).toMatch(/^\/oauth\/authorize\//);
    await change(ada.name, browser);
    const resumed = await browser.go(allowed.url);
    expect([resumed.status, resumed.url.origin]).toEqual([400, service.url]);
    expect(await stored({ userId: ada.name, kind: 'AuthorizationCode' })).toBe(0);
  }
});

test('an export lists the sessions', async () => {
  const { name } = await person(service);
  const browser = await signedIn(name);
  const page = await browser.go('/settings');
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, action: 'export' });
  const { text } = await browser.go('/settings', { method: 'POST', body });
  const { sessions } = record(record(JSON.parse(text))['records']);
  expect(sessions).toHaveLength(2);
  expect(text).not.toContain(browser.cookie('session'));
});

test('an account has at most 100 sessions: beyond them the oldest ends', async () => {
  const { name } = await person(service);
  const first = await signedIn(name);
  const { connection } = service.app.database;
  const [kept] = await connection
    .collection('oauthState')
    .find({ userId: name, kind: 'Session' })
    .toArray();
  const others = Array.from({ length: 98 }, (_, each) => ({
    ...kept,
    _id: `${name} ${each}` as never,
    createdAt: new Date(Date.now() - 1000 * each - 1000),
  }));
  await connection.collection('oauthState').insertMany(others);
  await signedIn(name);
  expect(await stored({ userId: name, kind: 'Session' })).toBe(100);
  expect((await first.go('/settings')).url.pathname).toBe('/settings');
});

test('an account signs in 120 times an hour', async () => {
  const hour = Math.ceil(Date.now() / 3_600_000);
  setClock(hour * 3_600_000);
  const { name } = await person(service);
  const budget = { _id: hashOf(`budget ${hour} sign-in of ${name}`) as never };
  const { connection } = service.app.database;
  await connection.collection('oauthState').updateOne(budget, { $set: { spent: 119 } });
  expect((await signedIn(name)).cookie('session')).toBeDefined();
  expect((await signedIn(name)).cookie('session')).toBeUndefined();
});

test('an account has at most 100 authorized apps: beyond them the oldest ends', async () => {
  const ada = await person(service);
  const phone = await Phone.register(service, ada);
  const { access_token: first } = await phone.tokens();
  const { connection } = service.app.database;
  const collection = connection.collection('oauthState');
  const [grant] = await collection.find({ userId: ada.name, kind: 'Grant' }).toArray();
  const others = Array.from({ length: 99 }, (_, each) => ({
    ...grant,
    _id: hashOf(`${ada.name} ${each}`) as never,
    createdAt: new Date(Date.now() + 1000),
  }));
  await collection.insertMany(others);
  const { access_token: last } = await phone.tokens();
  expect(await stored({ userId: ada.name, kind: 'Grant' })).toBe(100);
  const status = async (token: string) =>
    (await userOf(service.url, ada.name, token).get('/api/plants')).status;
  expect([await status(first), await status(last)]).toEqual([401, 200]);
});

test('a session does not grow with the apps that it authorizes', async () => {
  const ada = await person(service);
  const phone = await Phone.register(service, ada);
  await phone.tokens();
  const { connection } = service.app.database;
  const sessions = connection.collection('oauthState').find({ userId: ada.name, kind: 'Session' });
  expect(JSON.stringify(await sessions.toArray())).not.toContain(phone.clientId);
});

test('a token for the tools is also valid with a trailing slash, and for no other path', async () => {
  const phone = await Phone.register(service, await person(service));
  const resource = `${service.url}/api/mcp/`;
  const { access_token: token } = await phone.tokens({ resource, scope: 'account plants:read' });
  const user = userOf(service.url, '', token);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const path of ['/api/mcp', '/api/mcp/']) await user.post(path, list).expect(200);
  for (const path of [
    '/api/account',
    '/api/account/export',
    '/api/account/tokens',
    '/api/plants',
  ]) {
    await user.get(path).expect(401);
  }
});

test('a password that is checked while its budgets reset adds no try to the new ones', async () => {
  const { name, password } = await person(service);
  const windowMs = 3_600_000;
  const reset = Math.ceil(Date.now() / windowMs) * windowMs;
  setClock(reset - 1);
  const browser = new Browser(service.url);
  const page = await browser.go('/sign-in');
  const answer = browser.submit(page, { name, password });
  const begun = { kind: 'Budget', createdAt: new Date(reset - 1) };
  await until(async () => (await stored(begun)) > 0);
  setClock(reset);
  expect((await answer).url.pathname).toBe('/settings');
  expect(await stored({ kind: 'Budget', spent: { $lt: 0 } })).toBe(0);
});
