import ICAL from 'ical.js';
import supertest, { type Test } from 'supertest';

import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { accountsPlugin, startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({});
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

const DAY = 24 * 60 * 60 * 1000;
const dayIn = (days: number): string =>
  new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

/** The path of a new address. */
async function made(of = user): Promise<string> {
  const { url } = bodyOf(await of.post('/api/account/calendar').expect(201));
  const { origin, pathname } = new URL(String(url));
  // The port that the client used, which may differ from PORT.
  expect(origin).toBe(service.url);
  expect(pathname).toMatch(/^\/calendar\/[\w-]{32}\.ics$/);
  return pathname;
}

const read = (path: string): Test => supertest(service.url).get(path);

/** The events of a calendar, as a program reads them. */
async function eventsOf(path: string) {
  const { text } = await read(path)
    .expect(200)
    .expect('Content-Type', /^text\/calendar; charset=utf-8$/);
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  const calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const event = new ICAL.Event(component);
    return {
      uid: event.uid,
      summary: event.summary,
      location: event.location,
      on: event.startDate.toString(),
      stamp: String(component.getFirstPropertyValue('dtstamp')),
    };
  });
}

test('the calendar has an event for each occurrence in the next 90 days, overdue ones today', async () => {
  const { id } = await user.plant({ name: 'Fern', location: 'Bath', wateringFrequencyDays: 30 });
  const path = await made();
  const [first, ...more] = await eventsOf(path);
  expect(first).toMatchObject({ summary: 'Water Fern', location: 'Bath', on: dayIn(0) });
  expect(more.map(({ on }) => on)).toEqual([dayIn(30), dayIn(60), dayIn(90)]);
  expect(new Set([first, ...more].map((each) => each?.uid)).size).toBe(4);
  await user.event(id, { occurredAt: new Date(Date.now() - 40 * DAY).toISOString() });
  const [overdue] = await eventsOf(path);
  expect(overdue).toMatchObject({ on: dayIn(0), uid: `${id}-watered-${dayIn(-10)}@plant-care` });
});

test('names of any characters are kept, on lines of at most 75 bytes', async () => {
  const name = `${'🌿×é'.repeat(20)} "a", b; c\\n`;
  await user.plant({ name, location: 'Küche,\nlinks; oben', wateringFrequencyDays: 90 });
  const [event] = await eventsOf(await made());
  expect(event).toMatchObject({ summary: `Water ${name}`, location: 'Küche,\nlinks; oben' });
});

test('control characters become spaces, and line separators line breaks', async () => {
  const name = 'Fern\u0001\u0085 a\vb\r\nc\rd\u2028e\tf';
  await user.plant({ name, location: '\u001b[1mHall', wateringFrequencyDays: 90 });
  const path = await made();
  const [event] = await eventsOf(path);
  expect(event).toMatchObject({ summary: 'Water Fern   a b\nc\nd\ne\tf', location: ' [1mHall' });
  expect((await read(path)).text.replaceAll('\r\n', '')).not.toMatch(/[^\P{Cc}\t]|[\u2028\u2029]/u);
});

test('schedules appear by their labels and can be filtered', async () => {
  const fern = await user.plant({ name: 'Fern' });
  const mist = { care: 'other', label: 'Mist', everyDays: 45 };
  const { id } = bodyOf(await user.post(`/api/plants/${fern.id}/schedules`, mist).expect(201));
  const events = await eventsOf(`${await made()}?care=other`);
  expect(events.map(({ summary }) => summary)).toEqual(['Mist: Fern', 'Mist: Fern', 'Mist: Fern']);
  expect(events[0]?.uid).toBe(`${String(id)}-${dayIn(0)}@plant-care`);
});

test('rules by month appear on the days of due care', async () => {
  const { id } = await user.plant({ name: 'Fern' });
  for (const rule of [{ monthDays: [30, 31, -1] }, { weekdays: ['1mon', '-1fri', 'sun'] }]) {
    const schedule = { care: 'other', label: 'Mist', ...rule };
    await user.post(`/api/plants/${id}/schedules`, schedule).expect(201);
  }
  const due = bodyOf(await user.get(`/api/care?to=${dayIn(90)}`).expect(200));
  const items = due['items'] as { dueOn: string }[]; // As in docs/api.md, "Due care".
  expect(items.length).toBeGreaterThan(15);
  const events = await eventsOf(await made());
  expect(events.map(({ on }) => on)).toEqual(items.map(({ dueOn }) => dueOn));
});

test('titles are in the language of the account', async () => {
  const { id } = await user.plant({ name: 'Fern', wateringFrequencyDays: 90 });
  const rule = { care: 'other', label: 'Brumiser', everyDays: 90 };
  await user.post(`/api/plants/${id}/schedules`, rule).expect(201);
  const path = await made();
  for (const [language, watering, own, name] of [
    ['fr-CA', 'Arroser Fern', 'Brumiser\u00a0: Fern', 'Soin des plantes'],
    ['de', 'Water Fern', 'Brumiser: Fern', 'Plant care'],
  ]) {
    await user.patch('/api/account', { language }).expect(200);
    const titles = (await eventsOf(path)).map(({ summary }) => summary);
    expect(new Set(titles)).toEqual(new Set([watering, own]));
    expect((await read(path)).text).toContain(`X-WR-CALNAME:${name}\r\n`);
  }
});

test.each(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata', 'Africa/Casablanca'])(
  'a calendar without events has the time zone %s, as it is in the year that follows',
  async (timezone) => {
    await user.patch('/api/account', { timezone }).expect(200);
    const { text } = await read(await made()).expect(200);
    const calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
    expect(calendar.getAllSubcomponents('vevent')).toEqual([]);
    const [component] = calendar.getAllSubcomponents('vtimezone');
    const zone = new ICAL.Timezone(component);
    expect(zone.tzid).toBe(timezone);
    const offsets = new Intl.DateTimeFormat('en', {
      timeZone: timezone,
      timeZoneName: 'longOffset',
    });
    for (let days = 0; days < 365; days += 5) {
      const at = new Date(Date.now() + days * DAY);
      const shown = offsets.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value;
      const [hours = 0, minutes = 0] = (shown?.slice(3) ?? '').split(':').map(Number);
      const seconds = (Math.abs(hours) * 60 + minutes) * 60 * (shown?.includes('-') ? -1 : 1);
      const local = new Date(at.getTime() + seconds * 1000).toISOString().slice(0, 19);
      const time = ICAL.Time.fromDateTimeString(local);
      expect([local, zone.utcOffset(time)]).toEqual([local, seconds]);
    }
  },
);

test('archived plants are left out', async () => {
  const fern = await user.plant({ name: 'Fern', fertilizerFrequencyDays: 60 });
  const path = await made();
  expect((await eventsOf(path)).map(({ summary }) => summary)).toEqual(
    Array<string>(2).fill('Fertilize Fern'),
  );
  await user.post(`/api/plants/${fern.id}/archive`, { reason: 'died' }).expect(200);
  expect(await eventsOf(path)).toEqual([]);
});

test('care and location filter it, and unknown parameters are ignored', async () => {
  await user.plant({ name: 'Fern', location: 'Bath', wateringFrequencyDays: 90 });
  await user.plant({ name: 'Oak', location: 'Hall', wateringFrequencyDays: 90 });
  const path = await made();
  expect(await eventsOf(`${path}?location=Bath&nocache=7`)).toHaveLength(2);
  expect(await eventsOf(`${path}?care=fertilized`)).toEqual([]);
  for (const query of ['care=dancing', 'location=', 'care=watered&care=watered']) {
    expectError(await read(`${path}?${query}`), 400, 'validation_error');
  }
});

test('the calendar has a tag that changes only with its contents', async () => {
  await user.plant({ name: 'Fern', wateringFrequencyDays: 7 });
  const path = await made();
  const { headers, text } = await read(path).expect(200);
  const tag = String(headers['etag']);
  expect((await read(path)).text).toBe(text);
  await user.photo();
  await read(path).set('If-None-Match', tag).expect(304);
  await user.plant({ name: 'Oak', wateringFrequencyDays: 7 });
  expect((await read(path).set('If-None-Match', tag).expect(200)).headers['etag']).not.toBe(tag);
  await supertest(service.url).head(path).expect(200);
  expectError(await supertest(service.url).post(path), 405, 'method_not_allowed');
});

test('a new address replaces the previous one, and deleting removes it', async () => {
  const first = await made();
  const second = await made();
  expect(second).not.toBe(first);
  expectError(await read(first), 404, 'not_found');
  await read(second).expect(200);
  expect((await user.delete('/api/account/calendar').expect(200)).body).toEqual({ success: true });
  expectError(await read(second), 404, 'not_found');
  await user.delete('/api/account/calendar').expect(200);
});

test('the address is shown only once, even if the request is repeated', async () => {
  const send = () => user.post('/api/account/calendar').set('Idempotency-Key', 'calendar');
  await send().expect(201);
  expectError(await send(), 409, 'idempotency_conflict', /a secret that is not shown again; make/);
});

test('it requires plants:write, and shows only the account’s own care', async () => {
  await user.plant({ name: 'Fern', wateringFrequencyDays: 7 });
  const other = await service.user();
  expect(await eventsOf(await made(other))).toEqual([]);
  const reader = await service.user({ scopes: ['plants:read'] });
  expectError(await reader.post('/api/account/calendar'), 403, 'insufficient_scope');
});

test('it is deleted with the account', async () => {
  const path = await made();
  await user.delete('/api/account').send({ confirm: user.id }).expect(200);
  expectError(await read(path), 404, 'not_found');
  await service.app.exportsOf(accountsPlugin).data.deleteUser(user.id, () => undefined);
  expect(await service.app.exportsOf(accountsPlugin).data.counts(user.id)).toBeUndefined();
});

test('a client that keeps guessing is refused, and its guesses are not logged', async () => {
  const strict = await startService({ env: { RATE_LIMIT_AUTH_FAILURES_MAX: '3' } });
  const owner = await strict.user();
  const { url } = bodyOf(await owner.post('/api/account/calendar').expect(201));
  const { pathname } = new URL(String(url));
  const secret = /[\w-]{32}/.exec(pathname)?.[0] ?? '';
  const ask = (path: string) => supertest(strict.url).get(path);
  await ask(pathname).expect(200);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    // What others of this address guessed in the same minute counts too.
    expect([404, 429]).toContain((await ask(`/calendar/guess-${attempt}.ics`)).status);
  }
  expectError(await ask('/calendar/guess-4.ics'), 429, 'rate_limited');
  const audit = await strict.app.database.connection.collection('audit').find().toArray();
  const said = [...strict.logged, await strict.app.metrics.text(), JSON.stringify(audit)].join('');
  expect(said).toContain('GET /calendar/{secret}.ics');
  expect(said).not.toContain(secret);
  expect(said).not.toContain('guess-');
  await strict.close();
});

test('a filter applies before the calendar is limited to 5,000 events', async () => {
  const mist = Array.from({ length: 20 }, (_, index) => ({
    care: 'other',
    label: `Mist ${index}`,
    everyDays: 1,
  }));
  const repot = { care: 'repotted', everyDays: 365, startOn: dayIn(90) };
  const plants = [
    { name: 'Fern', schedules: mist },
    { name: 'Ivy', schedules: mist },
  ];
  const palm = { name: 'Palm', schedules: [repot, ...mist.slice(1)] };
  await user.post('/api/import', { plants: [...plants, palm] }).expect(201);
  const path = await made();
  // Too many for a parser that takes milliseconds for each.
  const starts = (await read(path).expect(200)).text.match(/^DTSTART.*$/gm) ?? [];
  const last = `DTSTART;VALUE=DATE:${dayIn(83).replaceAll('-', '')}`;
  expect([starts.length, starts.at(-1)?.trim()]).toEqual([84 * 59, last]);
  const repotting = await eventsOf(`${path}?care=repotted`);
  expect(repotting).toMatchObject([{ summary: 'Repot Palm', on: dayIn(90) }]);
});
