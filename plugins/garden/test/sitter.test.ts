import { randomUUID } from 'node:crypto';

import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { until as eventually } from '../../../test/support/processes';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { anyId, bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';
import { Browser, type Page } from '../../../test/support/signed-in';
import { newsOf, pressIn, textOf } from './gardener';

let service: TestService;
let ada: TestUser;
let browser: Browser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ada = await service.user();
  browser = new Browser(service.url);
});
afterEach(resetClock);
afterAll(() => service.close());

const MEMBERS = '/api/account/members';
const DAY = 86_400_000;

function inDays(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString();
}

/** A link of Ada's for Cleo: the id of the member, and the path. */
async function link(fields: object = {}): Promise<{ id: string; path: string }> {
  const wanted = { name: 'Cleo', role: 'carer', until: inDays(7), link: true, ...fields };
  const { id, link: made } = bodyOf(await ada.post(MEMBERS, wanted).expect(201));
  return { id: String(id), path: new URL(String(record(made)['url'])).pathname };
}

/** A plant of Ada's that needed water yesterday. */
async function plant(name = 'Fern', fields: object = {}): Promise<string> {
  const { id } = await ada.plant({ name, wateringFrequencyDays: 7, ...fields });
  const occurredAt = new Date(Date.now() - 8 * DAY).toISOString();
  await ada.post(`/api/plants/${id}/events`, { type: 'watered', occurredAt }).expect(201);
  return id;
}

async function eventsOf(id: string): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await ada.get(`/api/plants/${id}/events`).expect(200))['items']);
}

const press = (page: Page, action: string, options = {}) => pressIn(browser, page, action, options);

test('a link is shown once, of a carer with an end; only its hash is stored', async () => {
  const until = inDays(90 - 0.01);
  const wanted = { name: 'Cleo', role: 'carer', until, link: true };
  const send = () => ada.post(MEMBERS, wanted).set('Idempotency-Key', 'cleo');
  const { link: made, ...member } = bodyOf(await send().expect(201));
  expect(member).toEqual({
    id: anyId,
    name: 'Cleo',
    role: 'carer',
    until,
    joinedAt: null,
    lastSeenAt: null,
    byLink: true,
  });
  const url = String(record(made)['url']);
  const [, secret = ''] = /\/sitter\/([\w-]{20,})$/.exec(url) ?? [];
  expect(secret).not.toBe('');
  expect(bodyOf(await ada.get(MEMBERS).expect(200))['items']).toEqual([member]);
  expectError(await send(), 409, 'idempotency_conflict', new RegExp(String(member['id'])));
  await browser.go(`/sitter/${secret}`);
  await browser.go(`/sitter/${secret}x`);
  const dump = await service.app.database.connection.db?.collections();
  for (const each of dump ?? []) {
    expect(JSON.stringify(await each.find({}).toArray())).not.toContain(secret);
  }
  expect(service.logged.join('')).not.toContain(secret);
  expect((await service.anonymous.get('/metrics')).text).not.toContain(secret);
});

test.each([
  ['another role', { role: 'viewer' }, ['role']],
  ['no end', { until: null }, ['until']],
  ['an end after more than 90 days', { until: inDays(91) }, ['until']],
  ['neither', { role: 'gardener', until: null }, ['role', 'until']],
  ['a kind that is none', { link: 'yes' }, ['link']],
])('a link with %s is refused, also later', async (_what, fields, faults) => {
  const wanted = { name: 'Cleo', role: 'carer', until: inDays(7), link: true, ...fields };
  expect(faultsOf(await ada.post(MEMBERS, wanted))).toEqual(faults);
  if ('link' in fields) return;
  const { id } = await link();
  expect(faultsOf(await ada.patch(`${MEMBERS}/${id}`, fields))).toEqual(faults);
});

test('it opens what is due with Done, Skip and Undo, without signing in, under the given name', async () => {
  const id = await plant();
  const { id: member, path } = await link();
  const page = await browser.go(path);
  expect(page.status).toBe(200);
  expect(page.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(page.headers.get('Cache-Control')).toBe('no-store');
  expect(page.text).not.toMatch(/<script|style=| on\w+=|manifest|\/settings/);
  expect(textOf(page)).toMatch(/Welcome, Cleo!.*open to you until .*Water Fern due yesterday/);
  expect(page.text).not.toMatch(/value="(snooze|add|note)"/);
  const done = await press(page, 'done');
  expect(newsOf(done)).toBe('Watered: Fern');
  expect(done.url.pathname).toBe(path);
  const by = { id: member, name: 'Cleo' };
  expect(await eventsOf(id)).toMatchObject([{ type: 'watered', by }, { type: 'watered' }]);
  const undone = await press(done, 'undo');
  expect(newsOf(undone)).toBe('Removed from the log.');
  const skipped = await press(await browser.go(path), 'skip');
  expect(newsOf(skipped)).toMatch(/Fern – Water: in 7 days/);
  expect(await eventsOf(id)).toHaveLength(1);
  // Whoever put care off, a sitter does not take that back.
  expect(skipped.text).not.toContain('unsnooze');
  const forged = page.text.replaceAll('value="skip"', 'value="unsnooze"');
  expect((await press({ ...page, text: forged }, 'unsnooze')).status).toBe(403);
});

test('a double click on Done logs once', async () => {
  const id = await plant();
  const { path } = await link();
  const page = await browser.go(path);
  const both = await Promise.all([press(page, 'done'), press(page, 'done')]);
  for (const each of both) expect(newsOf(each)).toBe('Watered: Fern');
  expect(await eventsOf(id)).toHaveLength(2);
  const [undo] = both;
  const twice = await Promise.all([press(undo, 'undo'), press(undo, 'undo')]);
  for (const each of twice) expect(newsOf(each)).toBe('Removed from the log.');
});

test('it shows the plants with their notes, and what the sitter logged, not what others did', async () => {
  const id = await plant('Fern', { careNotes: 'Keep it moist.', notes: 'From Ben' });
  await ada.post(`/api/plants/${id}/events`, { type: 'note', text: 'A diary' }).expect(201);
  const { path } = await link();
  await press(await browser.go(path), 'done');
  const garden = await browser.go(path);
  const [, to = ''] = new RegExp(`href="(${path}/[^"]*)"`).exec(garden.text) ?? [];
  const own = await browser.go(to);
  expect(textOf(own)).toContain('Keep it moist. From Ben');
  for (const page of [garden, own]) {
    expect(textOf(page)).toContain('by Cleo');
    expect(textOf(page)).not.toContain('A diary');
    expect(page.text.match(/value="undo"/g)).toHaveLength(1);
  }
  const undone = await press(own, 'undo');
  expect(undone.url.pathname).toBe(to);
});

test('a form that is made up changes nothing that is not the sitter’s', async () => {
  const id = await plant();
  const { path } = await link();
  const [event] = await eventsOf(id);
  const page = await browser.go(path);
  const send = (fields: Record<string, string>, headers = {}) =>
    browser.go(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.text) ?? [];
  const key = randomUUID();
  const eventId = String(event?.['id']);
  for (const [fields, status] of [
    [{ action: 'undo', eventId }, 404],
    [{ action: 'undo', eventId: 'none' }, 404],
    [{ action: 'restore', eventId }, 404],
    [{ action: 'add', name: 'Ivy' }, 403],
    [{ action: 'note', plantId: id, text: 'x' }, 403],
    [{ action: 'snooze', plantId: id, type: 'watered' }, 403],
    [{ action: 'done', plantId: randomUUID(), type: 'watered' }, 400],
  ] as const) {
    expect([fields, (await send({ ...fields, csrf, key: randomUUID() })).status]).toEqual([
      fields,
      status,
    ]);
  }
  const done = { action: 'done', plantId: id, type: 'watered', key };
  expect((await send(done)).status).toBe(403);
  expect((await send({ ...done, csrf }, { Origin: 'https://evil.example' })).status).toBe(403);
  expect(await eventsOf(id)).toHaveLength(1);
  // The owner may open another garden; her sitter may not.
  const ben = await service.user();
  await letIn(ben, ada);
  await ben.plant({ name: 'Ivy' });
  const elsewhere = textOf(await browser.go(path, { headers: { Garden: ben.id } }));
  expect([elsewhere.includes('Fern'), elsewhere.includes('Ivy')]).toEqual([true, false]);
});

test('what opens links in mail changes nothing', async () => {
  const id = await plant();
  const { path } = await link();
  for (const query of ['', `?action=done&plantId=${id}&type=watered`]) {
    await fetch(service.url + path + query, { method: 'HEAD' });
    await fetch(service.url + path + query);
  }
  expect(await eventsOf(id)).toHaveLength(1);
});

test('the owner sees its last use, renames it and moves its end; a new end opens it again', async () => {
  const { id, path } = await link();
  await browser.go(path);
  const seen = async () =>
    records(bodyOf(await ada.get(MEMBERS).expect(200))['items'])[0]?.['lastSeenAt'];
  await eventually(async () => (await seen()) !== null);
  await ada.patch(`${MEMBERS}/${id}`, { name: 'Cleo <3' }).expect(200);
  expect(textOf(await browser.go(path))).toContain('Welcome, Cleo &lt;3!');
  const soon = Date.now() + 60_000;
  await ada.patch(`${MEMBERS}/${id}`, { until: new Date(soon) }).expect(200);
  setClock(soon);
  expect((await browser.go(path)).status).toBe(404);
  await ada.patch(`${MEMBERS}/${id}`, { until: inDays(1) }).expect(200);
  expect((await browser.go(path)).status).toBe(200);
});

test('a link that was ended is over at once in every process, in the middle of a visit too', async () => {
  const other = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    const id = await plant();
    const { id: member, path } = await link();
    const there = new Browser(other.url);
    const page = await there.go(path);
    expect(page.status).toBe(200);
    await ada.delete(`${MEMBERS}/${member}`).expect(200);
    const late = await pressIn(there, page, 'done');
    expect([late.status, late.text.includes('no longer, work')]).toEqual([404, true]);
    expect((await there.go(`${path}/${id}`)).status).toBe(404);
    expect(await eventsOf(id)).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test.each([
  [
    'has expired',
    async (until: number) => {
      setClock(until);
    },
  ],
  ['was ended', async (_until: number, id: string) => ada.delete(`${MEMBERS}/${id}`).expect(200)],
])('a form whose end arrives when the link %s changes nothing', async (_how, end) => {
  const id = await plant();
  const until = Date.now() + 60_000;
  const { id: member, path } = await link({ until: new Date(until).toISOString() });
  const page = await browser.go(path);
  const late = () => end(until, member);
  const answer = await press(page, 'done', { late });
  expect([answer.status, answer.text.includes('no longer, work')]).toEqual([404, true]);
  expect(answer.text).not.toContain('Fern');
  expect(await eventsOf(id)).toHaveLength(1);
});

test('its secret is no token, and no code', async () => {
  const { path } = await link();
  const secret = path.split('/').at(-1) ?? '';
  const bearer = { Authorization: `Bearer ${secret}` };
  expect((await service.anonymous.get('/api/plants').set(bearer)).status).toBe(401);
  const ben = await service.user();
  const joined = await ben.post('/api/gardens/join', { code: secret });
  expectError(joined, 404, 'invitation_not_found');
});

test('it ends with the account of the owner', async () => {
  const { path } = await link();
  await ada.delete('/api/account').send({ confirm: ada.id }).expect(200);
  expect((await browser.go(path)).status).toBe(404);
});

test('wrong secrets cost the address its failed authentications', async () => {
  const env = { RATE_LIMIT_AUTH_FAILURES_MAX: '3' };
  const guarded = await startService({ redisUrl: null, env, jobs: false });
  try {
    const guesser = new Browser(guarded.url);
    for (const secret of ['a', 'b', 'c']) {
      expect((await guesser.go(`/sitter/${secret}`)).status).toBe(404);
    }
    expect((await guesser.go('/sitter/d')).status).toBe(429);
  } finally {
    await guarded.close();
  }
});

test('the page is in French on request', async () => {
  await plant('Fougère');
  const { path } = await link();
  const page = await browser.go(path, { headers: { 'Accept-Language': 'fr' } });
  expect(textOf(page)).toContain('Bienvenue, Cleo !');
  expect(textOf(page)).toContain('Arroser Fougère');
});
