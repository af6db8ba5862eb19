import { randomUUID } from 'node:crypto';

import { hashOf } from '../../../src/core/identity';
import { record } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { Browser, type Page } from './support/browser';
import { type Claims, CLIENT, TokenIssuer } from './support/token-issuer';

let issuer: TokenIssuer;
let service: TestService;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  service = await startService({ env: { ...issuer.env, ...CLIENT } });
});
afterEach(resetClock);
afterAll(async () => {
  await service.close();
  await issuer.close();
});

const accountOf = (sub: string): string => `oidc|${hashOf(JSON.stringify([issuer.name, sub]))}`;

/** Sends a person to the issuer and back. */
async function signIn(claims: Claims, browser = new Browser(service.url)) {
  const { url } = await browser.go('/settings/sign-in');
  expect(url.href).toMatch(`${issuer.name}/authorize?`);
  return { browser, page: await browser.go(issuer.signIn(url, claims)) };
}

function send(browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> {
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, ...fields });
  return browser.go('/settings', { method: 'POST', body });
}

test('people sign in at the issuer, create tokens, export and delete their account', async () => {
  const sub = randomUUID();
  const start = await new Browser(service.url).go('/settings');
  expect(start.text).toContain('href="/settings/sign-in?return=/settings"');
  const { browser, page } = await signIn({ sub });
  expect(page.url.pathname).toBe('/settings');
  expect(page.text).toContain(accountOf(sub));
  expect(page.text).not.toContain('setPassword');
  const made = await send(browser, page, {
    action: 'makeToken',
    name: 'Script',
    scope: 'plants:read',
  });
  const token = /id="token"[^>]*>(tnd_mcp_\w+)</.exec(made.text)?.[1] ?? '';
  const script = userOf(service.url, '', token);
  await script.get('/api/plants').expect(200);
  const user = userOf(service.url, '', await issuer.token({ sub, scope: 'plants:read' }));
  expect((await user.get('/api/account').expect(200)).body).toMatchObject({
    userId: accountOf(sub),
  });
  const exported = await send(browser, page, { action: 'export' });
  expect(record(JSON.parse(exported.text))['account']).toMatchObject({ id: accountOf(sub) });
  const closed = await send(browser, page, { action: 'delete', confirm: accountOf(sub) });
  expect(closed.text).toContain('closed');
  expectError(await script.get('/api/plants'), 401, 'invalid_token');
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
});

test('after signing out, the settings ask to sign in again', async () => {
  const { browser, page } = await signIn({ sub: randomUUID() });
  const out = await send(browser, page, { action: 'signOut' });
  expect(out.text).toContain('href="/settings/sign-in?return=/settings"');
});

test('sensitive changes need a sign-in within the last hour, by auth_time', async () => {
  const sub = randomUUID();
  const hours = (count: number) => Math.floor(Date.now() / 1000) - count * 3600;
  const { browser, page } = await signIn({ sub, auth_time: hours(2) });
  const asked = await send(browser, page, { action: 'delete', confirm: accountOf(sub) });
  expect(asked.text).toContain('href="/settings/sign-in?return=/settings"');
  const { url } = await browser.go('/settings/sign-in');
  expect(url.searchParams.get('max_age')).toBe('3600');
  const back = await browser.go(issuer.signIn(url, { sub, auth_time: hours(0) }));
  setClock(Date.now() + 1000);
  expect((await send(browser, back, { action: 'delete', confirm: accountOf(sub) })).text).toContain(
    'closed',
  );
});

test.each([
  ['without auth_time', undefined, false],
  ['with an auth_time to come', 600, false],
  ['with a clock that is a little ahead', 20, true],
])('an ID token %s is a recent sign-in only if it says so', async (_what, ahead, isRecent) => {
  const sub = randomUUID();
  const auth_time = ahead === undefined ? undefined : Math.floor(Date.now() / 1000) + ahead;
  const { browser, page } = await signIn({ sub, auth_time });
  expect(page.url.pathname).toBe('/settings');
  const fields = { action: 'makeToken', name: 'Script', scope: 'plants:read' };
  const made = await send(browser, page, fields);
  expect(made.text.includes('tnd_mcp_')).toBe(isRecent);
  // A little ahead does not last longer.
  setClock(Date.now() + 3_601_000);
  const late = await send(browser, await browser.go('/settings'), fields);
  expect(late.text).not.toContain('tnd_mcp_');
});

test.each<[string, Claims]>([
  ['of another issuer', { iss: 'https://id.example' }],
  ['for another client', { aud: 'somebody' }],
  ['that has expired', { exp: 1 }],
  ['without a person', { sub: undefined }],
])('an ID token %s is refused', async (_what, claims) => {
  const { browser, page } = await signIn({ sub: 'ada', ...claims });
  expect(page.status).toBe(400);
  expect(page.text).toContain('role="alert"');
  expect(browser.cookie('session')).toBeUndefined();
});

test('a response for another browser, or one that was used before, is refused', async () => {
  const [mine, thief] = [new Browser(service.url), new Browser(service.url)];
  const sent = await mine.go('/settings/sign-in');
  const answer = issuer.signIn(sent.url, { sub: randomUUID() });
  expect((await thief.go(answer)).status).toBe(400);
  await thief.go('/settings/sign-in');
  expect((await thief.go(answer)).status).toBe(400);
  expect((await mine.go(answer)).url.pathname).toBe('/settings');
  expect((await mine.go(answer)).status).toBe(400);
  for (const query of ['', '?code=x', '?error=access_denied&state=x', '?code=x&state=x&code=y']) {
    expect((await mine.go(`/settings/signed-in${query}`)).status).toBe(400);
  }
});

const HTML = 'text/html; charset=utf-8';

test('a refusal at the issuer, and an issuer that is down, are reported', async () => {
  const browser = new Browser(service.url);
  const { url } = await browser.go('/settings/sign-in');
  const state = url.searchParams.get('state') ?? '';
  const refused = await browser.go(`/settings/signed-in?error=access_denied&state=${state}`);
  expect([refused.status, refused.headers.get('Content-Type')]).toEqual([400, HTML]);
  const fresh = await TokenIssuer.start();
  fresh.isBroken = true;
  const beside = await startService({ env: { ...fresh.env, ...CLIENT } });
  const { headers } = await beside.anonymous.get('/settings/sign-in').expect(503);
  expect(headers).toMatchObject({ 'content-type': HTML, 'retry-after': '1' });
  fresh.isBroken = false;
  await beside.anonymous.get('/settings/sign-in').expect(303);
  await beside.close();
  await fresh.close();
});

test('under PUBLIC_URL the issuer returns there, and the cookie has the prefix __Host-', async () => {
  const env = { ...issuer.env, ...CLIENT, PUBLIC_URL: 'https://plants.example' };
  const secure = await startService({ env });
  const answer = await secure.anonymous.get('/settings/sign-in').expect(303);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^__Host-sign-in=.*; path=\/;.* secure; httponly/),
  ]);
  const { searchParams } = new URL(String(answer.headers['location']));
  expect(searchParams.get('redirect_uri')).toBe('https://plants.example/settings/signed-in');
  await secure.close();
});
