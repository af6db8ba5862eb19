import { setImmediate } from 'node:timers/promises';

import { parse } from 'csv-parse/sync';

import { Client } from '../../../test/support/client';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import {
  accountsPlugin,
  carePlugin,
  differencesOf,
  eventsPlugin,
  GardenExport,
  gardenOf,
  logMany,
  photosPlugin,
  plantsPlugin,
  startService,
} from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

interface Garden {
  plants: (Record<string, unknown> & { photos: object[]; schedules: object[]; events: object[] })[];
  photos: object[];
}

async function exportOf(of: TestUser): Promise<Garden> {
  const answer = await of.get('/api/export').expect(200);
  return answer.body as Garden;
}

const without = (row: object, ...names: string[]): object =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** Without ids, which are new in each import: photos are identified by their order. */
function withoutIds(garden: Garden): string {
  const text = JSON.stringify(garden);
  const ids = [...new Set(text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))];
  return ids.reduce((rest, id, at) => rest.replaceAll(id, `photo ${at}`), text);
}

test('an export imports into an equal garden', async () => {
  await gardenOf(user);
  const [fern, oak] = [await user.plant({ name: 'Fern' }), await user.plant({ name: 'Oak 🌿' })];
  const shared = await user.photo({ plantId: oak.id });
  await user.patch(`/api/photos/${shared.id}`, { x: 1, y: 2, width: 30, height: 30 }).expect(200);
  await user.photo();
  const at = '2026-03-01T23:30:00.000Z';
  for (const text of ['first', 'second', 'third']) {
    await user.event(fern.id, { text, occurredAt: at, photoIds: [shared.id] });
  }
  const deleted = await user.event(fern.id);
  await user.delete(`/api/events/${deleted.id}`).expect(200);
  const lost = await user.photo({ plantId: fern.id });
  await user.event(fern.id, { photoIds: [lost.id, shared.id] });
  await user.delete(`/api/photos/${lost.id}`).expect(200);
  // Photos of a deleted plant stay, and other plants may still show them.
  await user.delete(`/api/plants/${oak.id}`).expect(200);
  await user.post(`/api/plants/${(await user.plant()).id}/archive`, { reason: 'sold' }).expect(200);
  const schedule = async (body: object) =>
    bodyOf(await user.post(`/api/plants/${fern.id}/schedules`, body).expect(201));
  await schedule({ care: 'watered', weekdays: ['mon'], months: [3, 4], endOn: '2099-01-01' });
  await schedule({ care: 'repotted', weekdays: ['1sat', '-1sun'], startOn: '2026-03-01' });
  await schedule({ care: 'fertilized', monthDays: [-1, 15], startOn: '2026-03-01' });
  const misting = await schedule({ care: 'other', label: 'Mist', everyDays: 3 });
  const done = { plantId: fern.id, scheduleId: misting['id'], occurredAt: at };
  await user.post('/api/care/done', done).expect(201);
  // Its day stays that of Auckland.
  await user.patch('/api/account', { timezone: 'Pacific/Auckland' }).expect(200);
  await user.event(fern.id, { type: 'fertilized', occurredAt: at });
  await user.patch('/api/account', { timezone: 'UTC' }).expect(200);

  const garden = await exportOf(user);
  const other = await service.user();
  const answer = await other.post('/api/import', garden).expect(201);
  expect(answer.body).toMatchObject({ plants: garden.plants.length });
  const again = await exportOf(other);
  expect(withoutIds(again)).toBe(withoutIds(garden));
  expect(await differencesOf(service.app, other.id)).toEqual([]);
  const summaries = async (of: TestUser) =>
    listOf(await of.get('/api/plant-summaries')).map((each) => without(each, 'id'));
  expect(await summaries(other)).toEqual(await summaries(user));
  const due = async (of: TestUser) =>
    JSON.stringify(bodyOf(await of.get('/api/care?dueBy=2099-01-01'))).replace(
      /"(plantId|scheduleId)":"[^"]+"/g,
      '',
    );
  expect(await due(other)).toBe(await due(user));
  const insights = async (of: TestUser) =>
    JSON.stringify(bodyOf(await of.get('/api/insights'))).replace(/"plantId":"[^"]+"/g, '');
  expect(await insights(other)).toBe(await insights(user));
  const texts = (garden.plants.find(({ name }) => name === 'Fern')?.events ?? []) as {
    text: string;
  }[];
  expect(texts.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['first', 'second', 'third']),
  );
});

test('an export is as of one moment, whatever is written meanwhile', async () => {
  const { id } = await user.plant();
  const photo = await user.photo();
  const { app } = service;
  const parts = {
    plants: app.exportsOf(plantsPlugin),
    photos: app.exportsOf(photosPlugin),
    schedules: app.exportsOf(carePlugin).schedules,
    events: app.exportsOf(eventsPlugin).events,
  };
  const before = await exportOf(user);
  const write = async () => {
    const schedule = { care: 'other', label: 'Mist', everyDays: 3 };
    const made = await user.post(`/api/plants/${id}/schedules`, schedule).expect(201);
    await user.event(id, { scheduleId: bodyOf(made)['id'], photoIds: [photo.id] });
    await user.plant();
  };
  const photos: Pick<typeof parts.photos, 'ids' | 'ofPlant'> = {
    ids: async (tenant) => {
      const ids = await parts.photos.ids(tenant);
      await write();
      return ids;
    },
    ofPlant: (...plant) => parts.photos.ofPlant(...plant),
  };
  const account = await app.exportsOf(accountsPlugin).account(user.id);
  if (!account) throw new Error('The account is gone.');
  let text = '';
  for await (const piece of app.database.snapshotStream((session) =>
    new GardenExport({ ...parts, photos }).json({ userId: user.id, session }, account, 1),
  )) {
    text += piece;
  }
  expect(JSON.parse(text)).toEqual(before);
});

test('an account without plants can be exported', async () => {
  expect(await exportOf(user)).toEqual({ part: 1, parts: 1, plants: [], photos: [] });
  const csv = await user.get('/api/export?format=csv').expect(200);
  expect(csv.text).toMatch(/^\ufeffname,species,.*archiveReason\r\n$/);
});

test('a garden of thousands of events is streamed, each event once', async () => {
  const plants = [await user.plant(), await user.plant(), await user.plant()];
  await logMany(service.app, user.id, Object.fromEntries(plants.map(({ id }) => [id, 2000])));
  const first = await exportOf(user);
  const second = await user.get('/api/export?part=2').expect(200);
  const parts = [first, second.body as Garden];
  expect(parts.map(({ plants: all }) => all.map(({ events }) => events.length))).toEqual([
    [2000, 2000, 1000],
    [1000],
  ]);
});

test('CSV is safe in spreadsheets, and imports unchanged', async () => {
  const names = [
    '=HYPERLINK("http://x","y")',
    "'=1",
    '+1',
    '-1',
    '@x',
    'a "b"; c,\r\nd',
    "'plain",
    ...['\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠x'],
  ];
  const notes = ' ×\t🌿 ';
  const gone = await user.plant();
  await user
    .post(`/api/plants/${gone.id}/archive`, { reason: 'died', on: '2026-03-01' })
    .expect(200);
  for (const name of names)
    await user.plant({ name, notes, toxic: true, wateringFrequencyDays: 3 });
  const answer = await user.get('/api/export?format=csv').expect(200);
  expect(answer.headers['content-type']).toMatch(/^text\/csv(; charset=utf-8)?$/);
  const rows = parse(answer.text, { columns: true }) as unknown as { name: string }[];
  expect(
    rows.map(({ name }) => name).filter((name) => /^[=+\-@\t\r\n＝＋－＠]/.test(name)),
  ).toEqual([]);
  const other = await service.user();
  await other.post('/api/import', { csv: answer.text }).expect(201);
  const fields = async (of: TestUser) =>
    listOf(await of.get('/api/plants?status=all')).map((each) =>
      without(each, 'id', 'userId', 'updatedAt'),
    );
  expect(await fields(other)).toEqual(await fields(user));
});

test('an export has an ETag, and is 304 until something is written', async () => {
  await user.plant();
  const { headers } = await user.get('/api/export').expect(200);
  const tag = String(headers['etag']);
  const csv = await user.get('/api/export?format=csv').set('If-None-Match', tag).expect(200);
  expect(csv.headers['etag']).not.toBe(tag);
  await user.get('/api/export').set('If-None-Match', tag).expect(304);
  await user.plant();
  await user.get('/api/export').set('If-None-Match', tag).expect(200);
});

test('an export requires plants:read and a known format', async () => {
  expectError(await user.get('/api/export?format=xml'), 400, 'validation_error');
  const writer = await service.user({ scopes: ['plants:write', 'events:write'] });
  expectError(await writer.get('/api/export'), 403, 'insufficient_scope');
});

test('other accounts get responses during a large import', async () => {
  const other = await service.user();
  const [client, busy] = [
    new Client(service.url, other.token),
    new Client(service.url, user.token),
  ];
  const events = Array.from({ length: 10 }, (_, day) => ({
    text: 'x'.repeat(150),
    occurredAt: new Date(Date.UTC(2026, 0, day + 1)).toISOString(),
  }));
  const plants = Array.from({ length: 500 }, (_, at) => ({ name: `Fern ${at}`, events }));
  const imported = busy.send('POST', '/api/import', { body: { plants } });
  const done = imported.then(() => true);
  let answered = 0;
  for (let isDone = false; !isDone; answered += 1) {
    expect((await client.send('POST', '/api/plants', { body: { name: 'Oak' } })).status).toBe(201);
    isDone = await Promise.race([done, setImmediate(false)]);
  }
  expect((await imported).status).toBe(201);
  expect(answered).toBeGreaterThan(5);
  client.close();
  busy.close();
});
