import { randomUUID } from 'node:crypto';

import { oauthPlugin, startService, tlsSettings } from '../../../test/support/program';
import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService } from '../../../test/support/service';
import { Browser, type Page } from './support/browser';
import { setSpent } from './support/budgets';
import { inviteTo, PASSWORD, person } from './support/people';
import { Phone } from './support/phone';

let service: TestService;
let open: TestService;
beforeAll(async () => {
  service = await startService();
  open = await startService({ env: { SIGN_UP: 'open' } });
});
afterEach(() => {
  resetClock();
});
afterAll(async () => {
  await service.close();
  await open.close();
});

const freshName = (): string => `fern-${randomUUID()}`;

async function signIn(name: string, password: string, browser = new Browser(service.url)) {
  return { browser, page: await browser.submit(await browser.go('/sign-in'), { name, password }) };
}

function isSignedIn(page: Page, name: string): boolean {
  return page.status === 200 && page.text.includes(`<strong>${name}</strong>`);
}

test('an invited person sets a password, is signed in, signs out and in again', async () => {
  const name = freshName();
  const browser = new Browser(service.url);
  const form = await browser.go(await inviteTo(service, name));
  expect(form.text).toContain(name);
  await browser.submit(form, { password: PASSWORD });
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(true);
  const before = browser.cookie('session') ?? '';
  await browser.submit(await browser.go('/sign-in'), {});
  expect(browser.cookie('session')).toBeUndefined();
  browser.setCookie('session', before);
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(false);
  expect(isSignedIn((await signIn(name, PASSWORD)).page, name)).toBe(true);
});

test('an invitation works once, and expires', async () => {
  const name = freshName();
  const link = await inviteTo(service, name);
  const [first, second] = [new Browser(service.url), new Browser(service.url)];
  const forms = [await first.go(link), await second.go(link)] as const;
  const answers = await Promise.all([
    first.submit(forms[0], { password: 'my own seven ferns' }),
    second.submit(forms[1], { password: 'somebody else here' }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect((await new Browser(service.url).go(link)).status).toBe(400);
  const late = await inviteTo(service, freshName());
  setClock(Date.now() + 3_601_000);
  expect((await new Browser(service.url).go(late)).status).toBe(400);
});

test('an invitation to an existing account sets a new password, and ends its sessions', async () => {
  const { name } = await person(service);
  const { browser } = await signIn(name, PASSWORD);
  const other = new Browser(service.url);
  await other.submit(await other.go(await inviteTo(service, name)), {
    password: 'another fine fern',
  });
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(false);
  expect((await signIn(name, PASSWORD)).page.status).toBe(400);
  expect(isSignedIn((await signIn(name, 'another fine fern')).page, name)).toBe(true);
});

test('an invitation links to https if the server speaks it', async () => {
  const tls = tlsSettings();
  const own = await startService({ env: tls.env });
  const link = await own.app.exportsOf(oauthPlugin).invite(freshName(), undefined, 3600);
  expect(new URL(link)).toMatchObject({ protocol: 'https:', hostname: 'localhost' });
  await own.close();
  tls.remove();
});

test('creating an account needs an invitation, unless SIGN_UP is open', async () => {
  expect((await new Browser(service.url).go('/sign-up')).status).toBe(403);
  const browser = new Browser(open.url);
  const name = freshName();
  const page = await browser.go('/sign-up');
  expect((await browser.submit(page, { name, password: PASSWORD })).status).toBe(200);
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(true);
});

test('creating an account while an app waits leads to its consent page', async () => {
  const phone = await Phone.register(open, { name: freshName(), password: PASSWORD });
  const { browser, person: somebody } = phone;
  const signInPage = await browser.go(phone.asks());
  const link = /href="(\/sign-up[^"]*)"/.exec(signInPage.text)?.[1] ?? '';
  const weak = await browser.submit(await browser.go(link), { ...somebody, password: 'short' });
  const consent = await browser.submit(weak, { ...somebody });
  expect(isSignedIn(consent, somebody.name)).toBe(true);
  const { url } = await browser.submit(consent, { answer: 'allow' });
  expect(url.searchParams.get('code')).not.toBeNull();
});

test('of several people who choose a name at once, one gets it', async () => {
  const name = freshName();
  const answers = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const browser = new Browser(open.url);
      return browser.submit(await browser.go('/sign-up'), { name, password: PASSWORD });
    }),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
});

test.each(['Ada', 'аda', 'a\u200Bda', 'ada lovelace', '', '-ada', 'a'.repeat(65)])(
  'the name %j cannot be chosen',
  async (name) => {
    const browser = new Browser(open.url);
    const page = await browser.submit(await browser.go('/sign-up'), { name, password: PASSWORD });
    expect(page.status).toBe(400);
  },
);

test.each([
  'short',
  'passwordpassword',
  'password12345',
  'Motdepasse123!',
  'aaaaaaaaaaaaaaa',
  'abcabcabcabcabc',
  '123456789012',
  'qwertyuiopas',
  'P@ssw0rd1234',
  '1qaz2wsx3edc',
  'michael12345',
  'x'.repeat(1001),
])('the password %j is refused', async (password) => {
  const browser = new Browser(service.url);
  const page = await browser.go(await inviteTo(service, freshName()));
  const refused = await browser.submit(page, { password });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('role="alert"');
});

test.each([`${'motdepasse'.repeat(90)}x`, 'three blue pots', 'Ferns, moss & lichen: '.repeat(45)])(
  'a password such as %j can be used',
  async (password) => {
    const browser = new Browser(service.url);
    const page = await browser.go(await inviteTo(service, freshName()));
    const { status } = await browser.submit(page, { password });
    expect(status).toBe(200);
  },
);

test('a password of 1 MB is too long for a form', async () => {
  const { browser, page } = await signIn(freshName(), 'x'.repeat(1_000_000));
  expect(page.status).toBe(413);
  expect(page.text).toContain('too long');
  expect(browser.cookie('session')).toBeUndefined();
});

test('a failed sign-in says the same whatever was wrong', async () => {
  const { name } = await person(service);
  const operated = await service.user();
  const said = new Set<string>();
  for (const [who, password] of [
    [name, 'not the password'],
    [freshName(), 'not the password'],
    [operated.id, 'not the password'],
    ['', ''],
  ] as const) {
    const { page } = await signIn(who, password);
    expect(page.status).toBe(400);
    said.add(/<p class="fault"[^]*?<\/p>/.exec(page.text)?.[0] ?? '');
  }
  expect(said.size).toBe(1);
});

test('a name may fail ten times in 15 minutes, whether or not it exists', async () => {
  const { name: known } = await person(service);
  // What succeeds does not count, and gives back no more than itself.
  for (let times = 0; times < 2; times += 1) await signIn(known, PASSWORD);
  for (const name of [known, freshName()]) {
    const statuses: number[] = [];
    for (let times = 0; times < 11; times += 1) {
      statuses.push((await signIn(name, 'not the password')).page.status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(400), 429]);
    const { page } = await signIn(name, PASSWORD);
    expect([page.status, page.headers.get('Retry-After')]).toEqual([429, '900']);
  }
});

test('a form from another site or browser is refused', async () => {
  const { name } = await person(service);
  const browser = new Browser(service.url);
  const page = await browser.go('/sign-in');
  const fields = { name, password: PASSWORD };
  const strange = await new Browser(service.url).go('/sign-in');
  for (const refused of [
    await browser.submit(page, { ...fields, csrf: undefined }),
    await browser.submit(page, { ...fields, csrf: 'x'.repeat(43) }),
    await browser.submit(strange, fields),
    await browser.go('/sign-in', {
      method: 'POST',
      headers: { Origin: 'https://evil.example' },
      body: new URLSearchParams({
        ...fields,
        csrf: /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '',
      }),
    }),
  ]) {
    expect(refused.status).toBe(403);
  }
  expect(browser.cookie('session')).toBeUndefined();
  expect(isSignedIn(await browser.submit(page, fields), name)).toBe(true);
});

test('signing in changes the session id', async () => {
  const { name } = await person(service);
  const fixed =
    (await signIn((await person(service)).name, PASSWORD)).browser.cookie('session') ?? '';
  const browser = new Browser(service.url);
  browser.setCookie('session', fixed);
  const page = await browser.go(`/sign-in?return=/oauth/consent/${'x'.repeat(43)}`);
  await browser.submit(page, { name, password: PASSWORD, return: '' });
  expect(browser.cookie('session')).not.toBe(fixed);
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(true);
  const thief = new Browser(service.url);
  thief.setCookie('session', fixed);
  expect(isSignedIn(await thief.go('/sign-in'), name)).toBe(false);
});

test('a session ends after thirty days', async () => {
  const { name } = await person(service);
  const { browser } = await signIn(name, PASSWORD);
  setClock(Date.now() + 31 * 86_400_000);
  expect(isSignedIn(await browser.go('/sign-in'), name)).toBe(false);
});

test('signing in never redirects to another site', async () => {
  const { name } = await person(service);
  for (const to of [
    'https://evil.example/',
    '//evil.example/',
    '/settings/../evil',
    '/settings/%2e%2e/evil',
  ]) {
    const browser = new Browser(service.url);
    const page = await browser.go(`/sign-in?return=${encodeURIComponent(to)}`);
    const done = await browser.submit(page, { name, password: PASSWORD });
    expect(done.url.href).toBe(`${service.url}/settings`);
  }
});

test('a consent page that another browser started is refused', async () => {
  const { name } = await person(service);
  const { browser } = await signIn(name, PASSWORD);
  const page = await browser.go(`/oauth/consent/${'x'.repeat(43)}`);
  expect(page.status).toBe(400);
});

test('pages load nothing from elsewhere, are in French on request, and are not cached', async () => {
  const page = await new Browser(service.url).go('/sign-in', {
    headers: { 'Accept-Language': 'fr-CH, fr;q=0.9, en;q=0.8' },
  });
  expect(page.text).toContain('<html lang="fr">');
  expect(page.text).toContain('Se connecter');
  expect(page.text).not.toMatch(/<script|style=| on\w+=/);
  expect(page.headers.get('Content-Security-Policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  );
  expect(page.headers.get('Cache-Control')).toBe('no-store');
});

test('pages escape what people write', async () => {
  const { page } = await signIn('"><script>alert(1)</script>', 'not the password');
  expect(page.text).not.toContain('<script>');
  expect(page.text).toContain('&quot;&gt;&lt;script&gt;');
});

test('an address creates 100 accounts an hour', async () => {
  const own = await startService({ env: { SIGN_UP: 'open' } });
  const start = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
  setClock(start);
  const signUp = async () => {
    const browser = new Browser(own.url);
    const page = await browser.go('/sign-up');
    return (await browser.submit(page, { name: freshName(), password: PASSWORD })).status;
  };
  expect(await signUp()).toBe(200);
  await setSpent(own, 98, start);
  const statuses = await Promise.all([signUp(), signUp(), signUp()]);
  expect(statuses.sort()).toEqual([200, 200, 429]);
  await own.close();
});
