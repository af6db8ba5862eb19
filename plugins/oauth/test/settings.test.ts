import {
  accountsPlugin,
  everythingStored,
  startService,
  storeLargest,
  until,
  userOf,
} from '../../../test/support/program';
import { resetClock, setClock } from '../../../test/support/clock';
import { record } from '../../../test/support/client';
import type { TestService } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { Browser, type Page } from './support/browser';
import { setSpent } from './support/budgets';
import { PASSWORD, person } from './support/people';
import { Assistant, authorize } from './support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => {
  resetClock();
});
afterAll(() => service.close());

type Fields = Readonly<Record<string, string | readonly string[]>>;

interface Visitor {
  name: string;
  browser: Browser;
  /** Submits a form of the settings. */
  send(action: string, fields?: Fields): Promise<Page>;
  /** The ids in a list, by the action of its buttons. */
  ids(action: string): Promise<string[]>;
}

/** Signs a person in with a browser. */
async function visitor(name?: string): Promise<Visitor> {
  const who = name === undefined ? await person(service) : { name };
  const browser = new Browser(service.url);
  const csrf = csrfOf(await browser.go('/sign-in'));
  await browser.go('/sign-in', {
    method: 'POST',
    headers: {
      'User-Agent': 'Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0',
    },
    body: new URLSearchParams({ csrf, name: who.name, password: PASSWORD }),
  });
  const settings = () => browser.go('/settings');
  return {
    name: who.name,
    browser,
    send: async (action, fields = {}) => {
      const form = new URLSearchParams({ action, csrf: csrfOf(await settings()) });
      for (const [field, values] of Object.entries(fields)) {
        for (const value of [values].flat()) form.append(field, value);
      }
      return browser.go('/settings', { method: 'POST', body: form });
    },
    ids: async (action) => {
      const entry = new RegExp(
        `name="action" value="${action}"[^]*?name="id" value="([^"]*)"`,
        'g',
      );
      return [...(await settings()).text.matchAll(entry)].map(([, id = '']) => id);
    },
  };
}

function csrfOf({ text }: Page): string {
  return /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
}

function tokenIn({ text }: Page): string {
  return /id="token"[^>]*>(tnd_mcp_\w+)</.exec(text)?.[1] ?? '';
}

const TOKEN = { name: 'Phone', scope: ['plants:read'], days: '30' };

test('a person who is not signed in is redirected to sign in, and back', async () => {
  const { name } = await person(service);
  const browser = new Browser(service.url);
  const page = await browser.go('/settings');
  expect(page.url.pathname).toBe('/sign-in');
  const back = await browser.submit(page, { name, password: PASSWORD });
  expect(back.url.pathname).toBe('/settings');
  expect(back.text).toContain(`<strong>${name}</strong>`);
});

test('a token is shown once, has its scopes, and can be revoked', async () => {
  const ada = await visitor();
  const made = await ada.send('makeToken', TOKEN);
  const phone = userOf(service.url, ada.name, tokenIn(made));
  await phone.get('/api/plants').expect(200);
  expectError(await phone.post('/api/plants', { name: 'Fern' }), 403, 'insufficient_scope');
  let page = await ada.browser.go('/settings');
  expect(page.text).toContain('<strong>Phone</strong>');
  // It is recorded after the response.
  await until(async () => {
    page = await ada.browser.go('/settings');
    return page.text.includes('last used');
  });
  expect(page.text).not.toContain('tnd_mcp_');
  const [id = ''] = await ada.ids('revokeToken');
  const revoked = await ada.send('revokeToken', { id });
  expect(revoked.url.search).toBe('?done=tokenRevoked');
  expect(revoked.text).toContain('role="status"');
  expectError(await phone.get('/api/plants'), 401, 'invalid_token');
  expect(await ada.ids('revokeToken')).toEqual([]);
  expect((await ada.send('revokeToken', { id })).status).toBe(400);
});

test.each([
  [{ name: '' }, 'token-name'],
  [{ name: 'x'.repeat(101) }, 'token-name'],
  [{ scope: [] }, 'token-scopes'],
  [{ scope: ['accounts:manage'] }, 'token-scopes'],
])('a token with %j is refused, and the page links to the field', async (fault, field) => {
  const ada = await visitor();
  const refused = await ada.send('makeToken', { ...TOKEN, ...fault });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(new RegExp(`role="alert"[^]*?<a href="#${field}">`));
  expect(refused.text).toContain(`id="${field}"`);
  expect(refused.text).toContain('<title>Error: ');
  expect(await ada.ids('revokeToken')).toEqual([]);
});

test('an account has at most 100 tokens, however they are created', async () => {
  const ada = await visitor();
  const { token } = await service.app.exportsOf(accountsPlugin).tokens.createToken({
    userId: ada.name,
    name: 'first',
    scopes: ['account'],
    expiresInSeconds: 3600,
  });
  const app = userOf(service.url, ada.name, token);
  const body = { name: 'App', scopes: ['account'] };
  const others = Array.from({ length: 99 }, () =>
    app.post('/api/account/tokens', body).expect(201),
  );
  await Promise.all(others);
  expect((await ada.send('makeToken', TOKEN)).status).toBe(403);
});

test('nobody can revoke or end what belongs to others', async () => {
  const [ada, bob] = [await visitor(), await visitor()];
  const phone = userOf(service.url, ada.name, tokenIn(await ada.send('makeToken', TOKEN)));
  for (const [action, list] of [
    ['revokeToken', 'revokeToken'],
    ['endSession', 'endSession'],
    ['revokeApp', 'endSession'],
  ] as const) {
    const [id = ''] = await ada.ids(list);
    for (const wrong of [id, '', 'x', '../']) {
      expect((await bob.send(action, { id: wrong })).status).toBe(400);
    }
  }
  await phone.get('/api/plants').expect(200);
  expect((await ada.browser.go('/settings')).status).toBe(200);
});

test('an authorized app is listed, and has no access once revoked', async () => {
  const ada = await visitor();
  const assistant = new Assistant(new URL('/api/mcp', service.url));
  const client = await assistant.connect((asked) =>
    authorize(ada.browser, asked, { name: ada.name, password: PASSWORD, scope: ['plants:read'] }),
  );
  expect((await ada.browser.go('/settings')).text).toContain('<strong>Fern watcher</strong>');
  const [id = ''] = await ada.ids('revokeApp');
  expect((await ada.send('revokeApp', { id })).url.search).toBe('?done=appRevoked');
  await client.close();
  const phone = userOf(service.url, ada.name, assistant.kept?.access_token ?? '');
  expectError(await phone.get('/api/account'), 401, 'invalid_token');
  expect(await ada.ids('revokeApp')).toEqual([]);
});

test('a session can be ended from another browser, and its cookie is then invalid', async () => {
  const ada = await visitor();
  const phone = await visitor(ada.name);
  const csrf = csrfOf(await phone.browser.go('/settings'));
  const page = await ada.browser.go('/settings');
  expect(page.text.match(/this browser/g)).toHaveLength(1);
  expect(page.text).toContain('<strong>Firefox, Android</strong>');
  const id = (await ada.ids('endSession')).at(-1) ?? '';
  await ada.send('endSession', { id });
  expect((await phone.browser.go('/settings')).url.pathname).toBe('/sign-in');
  const body = new URLSearchParams({ csrf, action: 'delete', confirm: ada.name });
  const late = await phone.browser.go('/settings', { method: 'POST', body });
  expect(late.url.pathname).toBe('/sign-in');
  expect((await ada.browser.go('/settings')).url.pathname).toBe('/settings');
});

test('a new password needs the current one, and signs out all other browsers', async () => {
  const ada = await visitor();
  const phone = await visitor(ada.name);
  const next = 'eight blue ferns';
  const refused = await ada.send('setPassword', { now: 'not the password', password: next });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('<a href="#now">');
  const weak = await ada.send('setPassword', { now: PASSWORD, password: 'short' });
  expect(weak.status).toBe(400);
  expect(weak.text).toContain('<a href="#password">');
  expect(weak.text).toMatch(/<h2>Ways to sign in<\/h2>\s*<p>Password<\/p>/);
  const done = await ada.send('setPassword', { now: PASSWORD, password: next });
  expect(done.url.search).toBe('?done=passwordSet');
  expect((await phone.browser.go('/settings')).url.pathname).toBe('/sign-in');
  expect((await ada.browser.go('/settings')).status).toBe(200);
  const browser = new Browser(service.url);
  const form = await browser.go('/sign-in');
  expect((await browser.submit(form, { name: ada.name, password: PASSWORD })).status).toBe(400);
  expect((await browser.submit(form, { name: ada.name, password: next })).status).toBe(200);
});

test('sensitive changes need a sign-in within the last hour; ending access does not', async () => {
  const ada = await visitor();
  await ada.send('makeToken', TOKEN);
  setClock(Date.now() + 3_700_000);
  for (const [action, fields] of [
    ['makeToken', TOKEN],
    ['setPassword', { now: PASSWORD, password: 'eight blue ferns' }],
    ['export', {}],
    ['delete', { confirm: ada.name }],
  ] as const) {
    const asked = await ada.send(action, fields);
    expect(asked.url.pathname).toBe('/sign-in');
    expect(asked.text).toContain('Sign in again');
  }
  const [id = ''] = await ada.ids('revokeToken');
  expect((await ada.send('revokeToken', { id })).status).toBe(200);
  const again = await ada.browser.go('/sign-in?return=/settings&again=1');
  await ada.browser.submit(again, { name: ada.name, password: PASSWORD });
  expect(tokenIn(await ada.send('makeToken', TOKEN))).not.toBe('');
});

test('an export is a file of everything stored, without secrets, ten times an hour', async () => {
  const ada = await visitor();
  const start = Date.now();
  const token = tokenIn(await ada.send('makeToken', TOKEN));
  const { headers, text } = await ada.send('export');
  expect(headers.get('Content-Disposition')).toBe('attachment; filename="plant-care.json"');
  const exported = record(JSON.parse(text));
  expect(exported['account']).toMatchObject({ id: ada.name });
  expect(exported['tokens']).toMatchObject([{ name: 'Phone' }]);
  expect(text).not.toContain(token);
  expect(text).not.toContain('$argon2');
  await setSpent(service, 9, start);
  expect((await ada.send('export')).status).toBe(200);
  expect((await ada.send('export')).status).toBe(429);
});

test('an export waits for another one of the account', async () => {
  const ada = await visitor();
  const { token } = await service.user({ id: ada.name });
  await storeLargest(service.app, ada.name, { plants: 300, events: 0 });
  const leaving = new AbortController();
  const untaken = await fetch(`${service.url}/api/account/export`, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
    signal: leaving.signal,
  });
  expect(untaken.status).toBe(200);
  const refused = await ada.send('export');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  expect(refused.text).toContain('does not work at the moment');
  leaving.abort();
  expect((await ada.send('export')).status).toBe(200);
}, 60_000);

test('typing the name deletes the account and everything that names it', async () => {
  const ada = await visitor();
  const phone = userOf(service.url, ada.name, tokenIn(await ada.send('makeToken', TOKEN)));
  const refused = await ada.send('delete', { confirm: 'somebody' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('<a href="#confirm">');
  const done = await ada.send('delete', { confirm: ada.name });
  expect(done.status).toBe(200);
  expect(done.text).toContain('closed');
  expectError(await phone.get('/api/account'), 401, 'invalid_token');
  expect((await ada.browser.go('/settings')).url.pathname).toBe('/sign-in');
  const isGone = async () => !JSON.stringify(await everythingStored(service)).includes(ada.name);
  // Reading everything locks it, and the deletion needs its turn.
  await until(isGone, 500);
});

test('a form of the settings from another site does nothing', async () => {
  const ada = await visitor();
  const csrf = csrfOf(await ada.browser.go('/settings'));
  const strange = csrfOf(await (await visitor()).browser.go('/settings'));
  for (const [Origin, given] of [
    ['https://evil.example', csrf],
    [service.url, strange],
    [service.url, ''],
  ] as const) {
    const body = new URLSearchParams({ csrf: given, action: 'delete', confirm: ada.name });
    const init = { method: 'POST', headers: { Origin }, body };
    expect((await ada.browser.go('/settings', init)).status).toBe(403);
  }
  expect((await ada.browser.go('/settings')).status).toBe(200);
});

test('unknown forms are refused', async () => {
  const ada = await visitor();
  expect((await ada.send('nothing')).status).toBe(400);
  expect((await ada.send('toString')).status).toBe(400);
  expect((await ada.browser.go('/settings?done=toString')).text).not.toContain('class="done"');
});

test('pages escape the names of tokens', async () => {
  const ada = await visitor();
  const name = '"><script>alert(1)</script>';
  const page = await ada.send('makeToken', { ...TOKEN, name });
  expect(page.text).not.toContain('<script>');
  expect(page.text).toContain('&quot;&gt;&lt;script&gt;');
});
