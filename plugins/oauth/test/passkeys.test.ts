import { randomBytes, randomUUID } from 'node:crypto';

import { startService } from '../../../test/support/program';
import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService } from '../../../test/support/service';
import { Authenticator, type Lies, optionsOf } from './support/authenticator';
import { Browser, type Page } from './support/browser';
import { setSpent } from './support/budgets';
import { inviteTo, PASSWORD } from './support/people';

let service: TestService;
let origin: string;
beforeAll(async () => {
  service = await startService({
    env: { SIGN_UP: 'open', RATE_LIMIT_AUTH_FAILURES_MAX: '1000' },
  });
  origin = service.url.replace('127.0.0.1', 'localhost');
});
afterEach(() => {
  resetClock();
});
afterAll(() => service.close());

const freshName = (): string => `fern-${randomUUID()}`;

/** A person who was invited and has created a passkey. */
async function invited(name = freshName()) {
  const [browser, device] = [new Browser(origin), new Authenticator(origin)];
  const page = await browser.go(await inviteTo(service, name));
  const made = await browser.submit(page, { passkey: device.make(page) });
  expect(made.status).toBe(200);
  return { name, browser, device };
}

async function signIn(device: Authenticator, lies: Lies = {}): Promise<Page> {
  const browser = new Browser(origin);
  const page = await browser.go('/sign-in');
  return browser.submit(page, { passkey: device.use(page, lies) });
}

function isIn(page: Page, name: string): boolean {
  return page.url.pathname === '/settings' && page.text.includes(`<strong>${name}</strong>`);
}

/** Submits a form of the settings. */
async function send(browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> {
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, ...fields });
  return browser.go('/settings', { method: 'POST', body });
}

test('an invited person creates a passkey, and signs in with it alone', async () => {
  const { name, browser, device } = await invited();
  expect(isIn(await browser.go('/settings'), name)).toBe(true);
  expect(isIn(await signIn(device), name)).toBe(true);
  expect(isIn(await signIn(device), name)).toBe(true);
  const form = await browser.go('/sign-in?return=/settings');
  expect((await browser.submit(form, { name, password: PASSWORD })).status).toBe(400);
});

test('anyone can create an account with a passkey if SIGN_UP is open', async () => {
  const [browser, device, name] = [new Browser(origin), new Authenticator(origin), freshName()];
  const page = await browser.go('/sign-up');
  expect((await browser.submit(page, { name, passkey: device.make(page) })).status).toBe(200);
  expect(isIn(await signIn(device), name)).toBe(true);
});

test('a new invitation removes earlier passkeys', async () => {
  const { name, device } = await invited();
  const other = await invited(name);
  expect((await signIn(device)).status).toBe(400);
  expect(isIn(await signIn(other.device), name)).toBe(true);
});

test.each<[string, Lies]>([
  ['of another origin', { origin: 'https://evil.example' }],
  ['of another port', { origin: 'http://localhost:1' }],
  ['of a challenge that is not ours', { challenge: 'x'.repeat(43) }],
  ['without its person', { isUserVerified: false }],
  ['in a frame of another site', { crossOrigin: true }],
  ['with a counter that goes back', { counter: 1 }],
])('a passkey %s does not sign in', async (_what, lies) => {
  const { name, device } = await invited();
  expect(isIn(await signIn(device), name)).toBe(true);
  const refused = await signIn(device, lies);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('role="alert"');
  expect(isIn(await signIn(device), name)).toBe(true);
});

test.each<[string, Lies]>([
  ['of another origin', { origin: 'https://evil.example' }],
  ['of a challenge that is not ours', { challenge: 'x'.repeat(43) }],
  ['without its person', { isUserVerified: false }],
  ['in a frame of another site', { crossOrigin: true }],
  ['with certificates', { format: 'android-key' }],
])('registering a passkey %s is refused', async (_what, lies) => {
  const [browser, device] = [new Browser(origin), new Authenticator(origin)];
  const page = await browser.go(await inviteTo(service, freshName()));
  const refused = await browser.submit(page, { passkey: device.make(page, lies) });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('data-passkey');
});

test('a credential id has at most 1,023 bytes', async () => {
  for (const [length, status] of [
    [1023, 200],
    [1024, 400],
  ] as const) {
    const [browser, device] = [new Browser(origin), new Authenticator(origin, randomBytes(length))];
    const page = await browser.go('/sign-up');
    const made = await browser.submit(page, { name: freshName(), passkey: device.make(page) });
    expect(made.status).toBe(status);
    expect((await signIn(device)).status).toBe(status);
  }
});

test('a challenge is valid only on the page that it was issued for, in its browser', async () => {
  const { name, browser, device } = await invited();
  const [visitor, stranger] = [new Browser(origin), new Browser(origin)];
  const places = [
    { who: visitor, path: '/sign-in', fields: { action: 'addPasskey' } },
    { who: visitor, path: '/sign-up', fields: { name: freshName() } },
    { who: visitor, path: await inviteTo(service, freshName()), fields: {} },
    { who: stranger, path: '/sign-in', fields: {} },
    { who: stranger, path: '/sign-up', fields: { name: freshName() } },
    { who: browser, path: '/settings', fields: { action: 'addPasskey' } },
  ];
  const opened = [];
  for (const place of places) opened.push({ ...place, page: await place.who.go(place.path) });
  for (const from of opened) {
    for (const { who, path, page, fields } of opened.filter((each) => each !== from)) {
      const other = new Authenticator(origin);
      const passkey = path === '/sign-in' ? device.use(from.page) : other.make(from.page);
      const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
      const invite = /name="invite" value="([^"]*)"/.exec(page.text)?.[1];
      const given = { csrf, passkey, ...fields, ...(invite === undefined ? {} : { invite }) };
      const { pathname } = new URL(path, origin);
      const sent = { method: 'POST', body: new URLSearchParams(given) };
      expect((await who.go(pathname, sent)).status).toBe(400);
    }
  }
  const page = await visitor.go('/sign-in');
  expect(isIn(await visitor.submit(page, { passkey: device.use(page) }), name)).toBe(true);
});

test('a response of a passkey works once, for an hour', async () => {
  const { name, device } = await invited();
  const browser = new Browser(origin);
  const page = await browser.go('/sign-in');
  const passkey = device.use(page);
  expect(isIn(await browser.submit(page, { passkey }), name)).toBe(true);
  const again = new Browser(origin);
  expect((await again.submit(await again.go('/sign-in'), { passkey })).status).toBe(400);
  const late = await again.go('/sign-in');
  setClock(Date.now() + 3_601_000);
  expect((await again.submit(late, { passkey: device.use(late) })).status).toBe(400);
});

test.each([
  'x',
  '{}',
  '[]',
  'null',
  '{"id":{},"response":{"clientDataJSON":1}}',
  '{"response":[]}',
])('the passkey %j is refused', async (passkey) => {
  const browser = new Browser(origin);
  expect((await browser.submit(await browser.go('/sign-in'), { passkey })).status).toBe(400);
  expect((await browser.submit(await browser.go('/sign-up'), { passkey })).status).toBe(400);
});

test('a passkey belongs to one account only', async () => {
  const { name, device } = await invited();
  const [browser, other] = [new Browser(origin), freshName()];
  const page = await browser.go('/sign-up');
  const passkey = device.make(page);
  expect((await browser.submit(page, { name: other, passkey })).status).toBe(400);
  expect(isIn(await signIn(device), name)).toBe(true);
});

test('passkeys are added and removed in the settings, but the last way to sign in stays', async () => {
  const { name, browser, device } = await invited();
  const page = await browser.go('/settings');
  const first = device.id.toString('base64url');
  expect(optionsOf(page)['excludeCredentials']).toEqual([{ type: 'public-key', id: first }]);
  const remove = { action: 'removePasskey', id: first };
  const last = await send(browser, page, remove);
  expect(last.status).toBe(400);
  expect(last.text).toContain('last way');
  const second = new Authenticator(origin);
  const added = await send(browser, page, { action: 'addPasskey', passkey: second.make(page) });
  expect(added.url.search).toBe('?done=passkeyAdded');
  expect((await send(browser, page, remove)).url.search).toBe('?done=passkeyRemoved');
  expect((await send(browser, page, remove)).status).toBe(400);
  expect((await signIn(device)).status).toBe(400);
  expect(isIn(await signIn(second), name)).toBe(true);
});

test('a person can set a password, and then remove the last passkey', async () => {
  const { name, browser, device } = await invited();
  const page = await browser.go('/settings');
  const set = await send(browser, page, { action: 'setPassword', password: PASSWORD });
  expect(set.url.search).toBe('?done=passwordSet');
  const id = device.id.toString('base64url');
  const removed = await send(browser, set, { action: 'removePasskey', id });
  expect(removed.url.search).toBe('?done=passkeyRemoved');
  const other = new Browser(origin);
  const form = await other.go('/sign-in');
  expect(isIn(await other.submit(form, { name, password: PASSWORD }), name)).toBe(true);
});

test('an account has at most 20 passkeys', async () => {
  const { browser } = await invited();
  const statuses: number[] = [];
  for (let count = 1; count <= 20; count += 1) {
    const page = await browser.go('/settings');
    const passkey = new Authenticator(origin).make(page);
    statuses.push((await send(browser, page, { action: 'addPasskey', passkey })).status);
  }
  expect(statuses).toEqual([...Array<number>(19).fill(200), 403]);
});

test('a page runs one script if passkeys can be used, and none otherwise', async () => {
  const page = await new Browser(origin).go('/sign-in');
  expect(page.text.match(/<script[^>]*>/g)).toEqual(['<script src="/passkeys.js" defer>']);
  expect(page.text).not.toMatch(/style=| on\w+=/);
  expect(page.headers.get('Content-Security-Policy')).toContain("script-src 'self'");
  const script = await service.anonymous.get('/passkeys.js').expect(200);
  expect(script.headers['content-type']).toContain('text/javascript');
  // Browsers do not support passkeys at IP addresses.
  expect((await new Browser(service.url).go('/sign-in')).text).not.toMatch(/<script|passkey/);
});

test('an address that loads many pages gets them without passkeys, and can still sign in', async () => {
  const start = Date.now() + 7_200_000;
  setClock(start);
  const browser = new Browser(origin);
  await browser.go('/sign-in');
  await setSpent(service, 299, start);
  expect((await browser.go('/sign-in')).text).toContain('data-passkey');
  const page = await browser.go('/sign-in');
  expect(page.status).toBe(200);
  expect(page.text).not.toContain('data-passkey');
  expect(page.text).toContain('name="password"');
});
