import { randomUUID } from 'node:crypto';

import { hashOf } from '../../../src/core/identity';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { Browser, type Page } from './support/browser';
import { inviteTo, PASSWORD, person } from './support/people';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { TRUST_PROXY: '1', SIGN_UP: 'open' } });
});
beforeEach(() => {
  // A test within one window of the budgets.
  setClock(Math.ceil(Date.now() / 900_000) * 900_000);
});
afterEach(resetClock);
afterAll(() => service.close());

let addresses = 0;

/** An address that nobody else has. */
function freshAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 0xff}.${addresses & 0xff}`;
}

async function signIn(name: string, password: string, browser: Browser): Promise<Page> {
  return browser.submit(await browser.go('/sign-in?return=/settings'), { name, password });
}

const isIn = ({ url, status }: Page): boolean => url.pathname === '/settings' && status === 200;

/** A person with a browser of their own, in which they signed in before. */
async function ada() {
  const { name } = await person(service);
  const browser = new Browser(service.url, freshAddress());
  expect(isIn(await signIn(name, PASSWORD, browser))).toBe(true);
  await send(browser, { action: 'signOut' });
  return { name, browser };
}

/** Submits a form of the settings. */
async function send(browser: Browser, fields: Record<string, string>): Promise<Page> {
  const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.go('/settings')).text)?.[1] ?? '';
  return browser.go('/settings', {
    method: 'POST',
    body: new URLSearchParams({ csrf, ...fields }),
  });
}

/** Guesses at once from as many addresses; returns the responses. */
async function guess(names: readonly string[], address = freshAddress): Promise<Page[]> {
  const page = await new Browser(service.url, freshAddress()).go('/sign-in');
  const cookie = page.headers.get('Set-Cookie')?.split(';')[0] ?? '';
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  return Promise.all(
    names.map((name) => {
      const [key = '', value = ''] = cookie.split('=');
      const browser = new Browser(service.url, address());
      browser.setCookie(key, value);
      const body = new URLSearchParams({ csrf, name, password: 'not the password' });
      return browser.go('/sign-in', { method: 'POST', body });
    }),
  );
}

/** Guesses one after the other, as fast as passwords are checked. */
async function guessAll(name: string, times: number, address = freshAddress): Promise<number[]> {
  const statuses: number[] = [];
  for (let done = 0; done < times; done += 10) {
    const names = Array<string>(Math.min(10, times - done)).fill(name);
    statuses.push(...(await guess(names, address)).map(({ status }) => status));
  }
  return statuses;
}

/** Spends all but some guesses that strangers have for a name. */
async function leave(name: string, guesses: number): Promise<void> {
  const budget = { _id: hashOf(`budget ${Date.now() / 900_000} sign-in ${name}`) as never };
  const spent = { kind: 'Budget', expiresAt: new Date(Date.now() + 900_000), spent: 200 - guesses };
  const state = service.app.database.connection.collection('oauthState');
  await state.updateOne(budget, { $set: spent }, { upsert: true });
}

const times = (count: number, status: number): number[] => Array<number>(count).fill(status);

test('ten wrong passwords from one address lock nobody else out', async () => {
  const { name, browser } = await ada();
  const one = freshAddress();
  expect(await guessAll(name, 12, () => one)).toEqual([...times(10, 400), 429, 429]);
  expect(isIn(await signIn(name, PASSWORD, new Browser(service.url, freshAddress())))).toBe(true);
  expect(await guessAll(name, 100)).toEqual(times(100, 400));
  expect(isIn(await signIn(name, PASSWORD, new Browser(service.url, freshAddress())))).toBe(true);
  expect(isIn(await signIn(name, PASSWORD, browser))).toBe(true);
  const locked = await signIn(name, PASSWORD, new Browser(service.url, one));
  expect([locked.status, locked.headers.get('Retry-After')]).toEqual([429, '900']);
});

test('a name has 200 wrong passwords from all strangers, which do not count for browsers that are known', async () => {
  const { name, browser } = await ada();
  expect(await guessAll(name, 210)).toEqual([...times(200, 400), ...times(10, 429)]);
  const stranger = new Browser(service.url, freshAddress());
  expect((await signIn(name, PASSWORD, stranger)).status).toBe(429);
  expect((await signIn(name, 'not the password', browser)).status).toBe(400);
  expect(isIn(await signIn(name, PASSWORD, browser))).toBe(true);
});

test('names that do not exist have the same budgets', async () => {
  const name = `fern-${randomUUID()}`;
  const one = freshAddress();
  expect(await guessAll(name, 11, () => one)).toEqual([...times(10, 400), 429]);
  await leave(name, 5);
  expect(await guessAll(name, 10)).toEqual([...times(5, 400), ...times(5, 429)]);
});

test('an IPv6 /64 is one address', async () => {
  let host = 0;
  const neighbour = (): string => `2001:db8:0:1::${(host += 1).toString(16)}`;
  const { name } = await ada();
  expect(await guessAll(name, 11, neighbour)).toEqual([...times(10, 400), 429]);
  expect((await guess([name], () => '2001:db8:0:2::1'))[0]?.status).toBe(400);
});

test('a password is changed in the settings while strangers guess it, also from the same address', async () => {
  const { name, browser } = await ada();
  expect(isIn(await signIn(name, PASSWORD, browser))).toBe(true);
  await guessAll(name, 70, () => browser.address ?? '');
  await leave(name, 0);
  const change = (now: string, password: string) =>
    send(browser, { action: 'setPassword', now, password });
  const done = await change(PASSWORD, 'eight blue ferns');
  expect(done.url.search).toBe('?done=passwordSet');
  const statuses: number[] = [];
  for (let tried = 0; tried < 10; tried += 1) {
    statuses.push((await change('not the password', 'nine red ferns!')).status);
  }
  expect(statuses).toEqual([...times(9, 400), 429]);
});

test('a browser that is known has ten wrong passwords of its own', async () => {
  const { name, browser } = await ada();
  const statuses: number[] = [];
  for (let tried = 0; tried < 11; tried += 1) {
    statuses.push((await signIn(name, 'not the password', browser)).status);
  }
  expect(statuses).toEqual([...times(10, 400), 429]);
  expect(isIn(await signIn(name, PASSWORD, new Browser(service.url, freshAddress())))).toBe(true);
});

test('a browser is known to each person who signed in with it, and to nobody else', async () => {
  const [one, other, third] = [await ada(), await person(service), await person(service)];
  const { browser } = one;
  expect(isIn(await signIn(other.name, PASSWORD, browser))).toBe(true);
  await send(browser, { action: 'signOut' });
  for (const { name } of [one, other, third]) await leave(name, 0);
  for (const { name } of [one, other]) {
    expect(isIn(await signIn(name, PASSWORD, browser))).toBe(true);
    await send(browser, { action: 'signOut' });
  }
  expect((await signIn(third.name, PASSWORD, browser)).status).toBe(429);
});

test('a new password makes all other browsers strangers', async () => {
  const { name, browser } = await ada();
  const recovered = new Browser(service.url, freshAddress());
  const password = 'eight blue ferns';
  await recovered.submit(await recovered.go(await inviteTo(service, name)), { password });
  await leave(name, 0);
  expect((await signIn(name, password, browser)).status).toBe(429);
  await send(recovered, { action: 'signOut' });
  expect(isIn(await signIn(name, password, recovered))).toBe(true);
});

test('the cookie by which a browser is known signs nobody in, and is stored as a hash', async () => {
  const { name, browser } = await ada();
  const device = browser.cookie('device') ?? '';
  expect(device).toHaveLength(32);
  const thief = new Browser(service.url, freshAddress());
  thief.setCookie('device', device);
  thief.setCookie('session', device);
  expect((await thief.go('/settings')).url.pathname).toBe('/sign-in');
  const state = service.app.database.connection.collection('oauthState');
  const stored = await state.find({ userId: name }).toArray();
  expect(stored.map(({ kind }) => String(kind))).toContain('Device');
  expect(JSON.stringify(stored)).not.toContain(device);
});

test('a person is known in 20 browsers at most, for a year', async () => {
  const { name, browser } = await ada();
  for (let more = 0; more < 20; more += 1) {
    expect(isIn(await signIn(name, PASSWORD, new Browser(service.url, freshAddress())))).toBe(true);
  }
  const state = service.app.database.connection.collection('oauthState');
  expect(await state.countDocuments({ userId: name, kind: 'Device' })).toBe(20);
  await leave(name, 0);
  expect((await signIn(name, PASSWORD, browser)).status).toBe(429);
});

test('under https the cookie is bound to the host, and hidden from scripts, for a year', async () => {
  const own = await startService({ env: { PUBLIC_URL: 'https://plants.example' } });
  const browser = new Browser(own.url);
  const form = await browser.go(await inviteTo(own, `fern-${randomUUID()}`));
  const made = await browser.submit(form, { password: PASSWORD });
  const set = made.headers.getSetCookie().find((each) => each.startsWith('__Host-device=')) ?? '';
  const [, ...attributes] = set.split('; ').sort();
  expect(attributes).toEqual([
    expect.stringMatching(/^expires=/),
    'httponly',
    'path=/',
    'samesite=lax',
    'secure',
  ]);
  const expires = Date.parse(/expires=([^;]*)/.exec(set)?.[1] ?? '');
  expect((expires - Date.now()) / 86_400_000).toBeCloseTo(365, 2);
  await own.close();
});

test('during a flood of guesses known browsers sign in, and others do or are asked to wait', async () => {
  const { name, browser } = await ada();
  const names = Array.from({ length: 400 }, (_, each) =>
    each % 2 === 0 ? name : `fern-${randomUUID()}`,
  );
  const known = await browser.go('/sign-in?return=/settings');
  const other = new Browser(service.url, freshAddress());
  const { name: bob } = await person(service);
  const strange = await other.go('/sign-in?return=/settings');
  const guessing = guess(names);
  const [own, honest] = await Promise.all([
    browser.submit(known, { name, password: PASSWORD }),
    other.submit(strange, { name: bob, password: PASSWORD }),
  ]);
  expect(isIn(own)).toBe(true);
  expect(isIn(honest) || honest.headers.get('Retry-After') === '1').toBe(true);
  const pages = await guessing;
  const busy = pages.filter(({ status }) => status === 503);
  expect(busy.length).toBeGreaterThan(100);
  expect(busy.filter(({ headers }) => headers.get('Retry-After') !== '1')).toEqual([]);
  expect(busy[0]?.text).toContain('Too many people are signing in');
  // Those beyond the queue cost neither their name nor their address.
  const tried = pages.filter(({ status }) => status === 400).length;
  expect(pages).toHaveLength(busy.length + tried);
});

test('a wrong password takes as long for a name that does not exist', async () => {
  const { name } = await ada();
  const fastest = new Map([name, `fern-${randomUUID()}`].map((each) => [each, Infinity]));
  for (let turn = 0; turn < 12; turn += 1) {
    for (const [each, before] of fastest) {
      const start = performance.now();
      await guess([each]);
      fastest.set(each, Math.min(before, performance.now() - start));
    }
  }
  const [known = 0, unknown = 0] = fastest.values();
  expect(unknown / known).toBeGreaterThan(0.5);
  expect(unknown / known).toBeLessThan(2);
});
