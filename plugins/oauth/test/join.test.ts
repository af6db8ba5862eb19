import { randomUUID } from 'node:crypto';

import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { invite, letIn } from '../../../test/support/sharing';
import { Browser, type Page } from './support/browser';
import { PASSWORD, person } from './support/people';

let service: TestService;
let ada: TestUser;
let ben: TestUser;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
  browser = await signedIn(ben);
});
afterEach(resetClock);
afterAll(() => service.close());

const GONE = 'There is no such invitation';

async function signedIn({ id }: TestUser): Promise<Browser> {
  await person(service, id);
  const own = new Browser(service.url);
  await own.submit(await own.go('/sign-in'), { name: id, password: PASSWORD });
  return own;
}

/** A new invitation of Ada's: its address and its id. */
async function invited(fields: object = {}): Promise<{ id: string; path: string; code: string }> {
  const { id, code } = await invite(ada, { role: 'carer', ...fields });
  return { id, code, path: `/join?code=${code}` };
}

async function gardensOf(user: TestUser): Promise<object> {
  return bodyOf(await user.get('/api/gardens').expect(200));
}

const isShared = (owner: TestUser) => ({
  items: expect.arrayContaining([expect.objectContaining({ id: owner.id })]) as object[],
});

/** What a page says. */
function textOf({ text }: Page): string {
  return text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('the page says who lets the person in, as what and until when; only its button joins', async () => {
  await ada.patch('/api/account', { gardenName: 'Balcony <3' }).expect(200);
  const until = new Date(Date.UTC(new Date().getUTCFullYear() + 1, 4, 17, 12));
  const { path } = await invited({ name: 'Ben next door', until });
  const page = await browser.go(path);
  expect(page.status).toBe(200);
  expect(textOf(page)).toContain(`${ada.id} lets you into the garden Balcony &lt;3 .`);
  expect(textOf(page)).toContain('You may look at the plants, and log their care.');
  expect(textOf(page)).toMatch(/open to you until May 17, \d{4}/);
  expect(textOf(page)).toContain('Ben next door');
  expect(page.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(await gardensOf(ben)).not.toEqual(isShared(ada));
  const joined = await browser.submit(page, {});
  expect(joined.text).toContain('<title>The garden is open to you');
  expect(await gardensOf(ben)).toEqual(isShared(ada));
  // A second click, and the link once more.
  expect((await browser.submit(page, {})).status).toBe(200);
  expect((await browser.go(path)).text).toContain('<title>The garden is open to you');
});

test('who is not signed in signs in first; the code stays out of addresses', async () => {
  const { path, code } = await invited();
  const other = new Browser(service.url);
  const signIn = await other.go(path);
  expect(signIn.url.pathname + signIn.url.search).toBe('/sign-in?return=/join');
  expect(signIn.text).not.toContain(code);
  const page = await other.submit(signIn, { name: ben.id, password: PASSWORD });
  expect(page.url.pathname + page.url.search).toBe('/join');
  expect(textOf(page)).toContain(`${ada.id} lets you into their garden.`);
  await other.submit(page, {});
  expect(await gardensOf(ben)).toEqual(isShared(ada));
  expect(other.cookie('join')).toBeUndefined();
  expect(service.logged.join('')).not.toContain(code);
});

test('by invitation only, a code lets one person without an account sign up', async () => {
  const { path } = await invited();
  const names = [randomUUID(), randomUUID()];
  const browsers = names.map(() => new Browser(service.url));
  const forms: Page[] = [];
  for (const each of browsers) {
    const signIn = await each.go(path);
    const [, link = ''] = /<a href="(\/sign-up[^"]*)"/.exec(signIn.text) ?? [];
    forms.push(await each.go(link.replace('&amp;', '&')));
  }
  const answers = await Promise.all(
    browsers.map((each, at) =>
      each.submit(forms[at] as Page, { name: names[at], password: PASSWORD }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  const first = answers.findIndex(({ status }) => status === 200);
  const page = answers[first] as Page;
  expect(page.url.pathname).toBe('/join');
  expect(textOf(page)).toContain(`${ada.id} lets you into their garden.`);
  const joined = await browsers[first]?.submit(page, {});
  expect(joined?.text).toContain('<title>The garden is open to you');
});

test('without a code, or with a wrong one, nobody signs up', async () => {
  const { id, path } = await invited();
  const other = new Browser(service.url);
  expect((await other.go('/sign-up')).status).toBe(403);
  const signIn = await other.go(path);
  expect(signIn.text).toContain('/sign-up');
  await ada.delete(`/api/account/members/${id}`).expect(200);
  const refused = await other.go('/sign-up?return=/join');
  expect([refused.status, refused.text.includes(GONE)]).toEqual([404, true]);
  other.setCookie('join', 'guessed');
  expect((await other.go('/sign-up')).status).toBe(404);
});

test.each([
  ['nothing', async () => '/join'],
  ['a code that is unknown', async () => '/join?code=unknown'],
  ['two codes', async () => '/join?code=a&code=b'],
  ['a code of 5,000 characters', async () => `/join?code=${'x'.repeat(5000)}`],
  [
    'a code that another has used',
    async () => {
      const { code, path } = await invited();
      await (await service.user()).post('/api/gardens/join', { code }).expect(200);
      return path;
    },
  ],
  [
    'one that was withdrawn',
    async () => {
      const { id, path } = await invited();
      await ada.delete(`/api/account/members/${id}`).expect(200);
      return path;
    },
  ],
  [
    'one that has ended',
    async () => {
      const { path } = await invited();
      setClock(Date.now() + 7 * 86_400_000 + 1000);
      browser = await signedIn(ben);
      return path;
    },
  ],
])('%s is no invitation, signed in or not', async (_what, pathOf) => {
  const path = await pathOf();
  for (const each of [browser, new Browser(service.url)]) {
    const page = await each.go(path);
    expect([page.status, page.text.includes(GONE)]).toEqual([404, true]);
    expect(each.cookie('join')).toBeUndefined();
  }
});

test('an invitation that is withdrawn while its page is open lets nobody in', async () => {
  const { id, path } = await invited();
  const page = await browser.go(path);
  await ada.delete(`/api/account/members/${id}`).expect(200);
  expect((await browser.submit(page, {})).status).toBe(404);
  expect(await gardensOf(ben)).not.toEqual(isShared(ada));
});

test("one's own invitation says so", async () => {
  const { path, code } = await invited();
  const own = await signedIn(ada);
  const page = await own.go(path);
  expect([page.status, textOf(page).includes('This invitation is your own.')]).toEqual([400, true]);
  const form = await browser.go(path);
  const csrf = /name="csrf" value="([^"]*)"/.exec((await own.go('/settings')).text)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, code });
  expect((await own.go('/join', { method: 'POST', body })).status).toBe(400);
  // It is still good.
  expect((await browser.submit(form, {})).status).toBe(200);
});

test('a newer invitation of a member is shown, and its role holds', async () => {
  await letIn(ada, ben, { role: 'viewer' });
  const { path } = await invited({ role: 'gardener' });
  const page = await browser.go(path);
  expect(textOf(page)).toContain('add, change and delete the plants');
  await browser.submit(page, {});
  expect(JSON.stringify(await gardensOf(ben))).toContain('gardener');
});

test('a form that is forged joins nothing', async () => {
  const { path, code } = await invited();
  const page = await browser.go(path);
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.text) ?? [];
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    browser.go('/join', { method: 'POST', body: new URLSearchParams(fields), headers });
  const null_ = { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' };
  for (const answer of [
    await post({ code }),
    await post({ code, csrf: 'guessed' }),
    await post({ code, csrf }, { Origin: 'https://evil.example' }),
    await post({ code, csrf }, null_),
  ]) {
    expect(answer.status).toBe(403);
  }
  expect(await gardensOf(ben)).not.toEqual(isShared(ada));
  // A page without a referrer sends its form with this origin.
  const ours = { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
  expect((await post({ code, csrf }, ours)).status).toBe(200);
});

test('a garden without room says so', async () => {
  const { path } = await invited();
  const page = await browser.go(path);
  const { db } = service.app.database.connection;
  const gardens = Array.from({ length: 20 }, (_, at) => ({
    _id: randomUUID(),
    userId: `${ada.id}-${at}`,
    account: ben.id,
    until: null,
  }));
  await db?.collection('members').insertMany(gardens as never[]);
  const refused = await browser.submit(page, {});
  expect([refused.status, textOf(refused).includes('There is no room')]).toEqual([403, true]);
});

test('guesses cost the address its failed authentications', async () => {
  const guarded = await startService({
    redisUrl: null,
    env: { RATE_LIMIT_AUTH_FAILURES_MAX: '3' },
    jobs: false,
  });
  try {
    const guesser = new Browser(guarded.url);
    for (const code of ['a', 'b', 'c']) {
      expect((await guesser.go(`/join?code=${code}`)).status).toBe(404);
    }
    const refused = await guesser.go('/join?code=d');
    expect([refused.status, refused.headers.has('Retry-After')]).toEqual([429, true]);
  } finally {
    await guarded.close();
  }
});

test('the page is in French on request', async () => {
  const { path } = await invited();
  const page = await browser.go(path, { headers: { 'Accept-Language': 'fr' } });
  expect(textOf(page)).toContain('vous ouvre son jardin');
  expect(textOf(page)).toContain('Vous pouvez voir les plantes et noter leurs soins.');
});
