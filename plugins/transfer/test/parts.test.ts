import { Client } from '../../../test/support/client';
import { Copy } from '../../../test/support/copy';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { exportedParts, listsOf, withoutIds } from '../../../test/support/whole-garden';
import { differencesOf, gardenOf, startService, storeLargest } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let other: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
  other = await service.user();
});
afterAll(() => service.close());

type Part = Record<string, unknown> & {
  plants: (Record<string, unknown> & { id: string; events: { id: string }[]; photos: object[] })[];
};

/** Ids in order, as those of exports are. */
const id = (number: number): string =>
  `${(0x0198_0000 + number).toString(16).padStart(8, '0')}-7c1b-7d6e-9f3a-2b5c8d4e6f10`;
const image = (number: number) => ({
  id: id(number),
  imagehostPublicId: `plants/${number}`,
  secureUrl: 'https://images.example.com/fern.jpg',
  width: 800,
  height: 600,
  format: 'jpg',
});
const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function partsOf(of: TestUser): Promise<Part[]> {
  const client = new Client(service.url, of.token);
  const parts = await exportedParts(client);
  client.close();
  // Exports have these lists.
  return parts as Part[];
}

async function listsWithoutIds(of: TestUser): Promise<Record<string, string>> {
  const client = new Client(service.url, of.token);
  const lists = await listsOf(client, of.id);
  client.close();
  return lists;
}

const bring = (part: object, of = other) => of.post('/api/import', part);
const eventsOf = (part: Part | undefined) => part?.plants.flatMap(({ events }) => events) ?? [];

/** The fields that no record of a list has a value for, so that nothing would show their loss. */
function fieldsWithoutValue(list: readonly object[]): string[] {
  const names = new Set(list.flatMap((each) => Object.keys(each)));
  for (const each of list) {
    for (const [name, value] of Object.entries(each)) {
      if (value !== null && value !== false && String(value) !== '') names.delete(name);
    }
  }
  return [...names];
}

test('every field of every record comes back', async () => {
  const { plant = '', photo = '' } = await gardenOf(user);
  await user.patch(`/api/plants/${plant}`, { toxic: true, mossPoleNeeded: true }).expect(200);
  await user.patch(`/api/photos/${photo}`, { x: 1, y: 2, width: 30, height: 30 }).expect(200);
  const rules = { weekdays: ['mon'], months: [3, 4], endOn: inDays(300), active: false };
  const seasons = [{ from: '11-01', to: '02-28', everyDays: 9 }];
  for (const rule of [rules, { everyDays: 3, seasons }, { monthDays: [-1] }]) {
    const body = { care: 'other', label: 'Mist', ...rule };
    await user.post(`/api/plants/${plant}/schedules`, body).expect(201);
  }
  await user.event(plant, { occurredAt: inDays(-3) + 'T23:30:00-10:00' });
  const gone = await user.plant();
  await user.post(`/api/plants/${gone.id}/archive`, { reason: 'sold' }).expect(200);
  const lists: Record<string, object[]> = {
    plants: listOf(await user.get('/api/plants?status=all')),
    photos: listOf({ body: bodyOf(await user.get('/api/photos?limit=100'))['items'] }),
    schedules: listOf(await user.get(`/api/plants/${plant}/schedules`)),
    events: listOf({ body: bodyOf(await user.get('/api/events?limit=100'))['items'] }),
  };
  for (const list of Object.values(lists)) expect(fieldsWithoutValue(list)).toEqual([]);
  const [part] = await partsOf(user);
  await bring(part ?? {}).expect(201);
  expect(await listsWithoutIds(other)).toEqual(await listsWithoutIds(user));
  expect(await differencesOf(service.app, other.id)).toEqual([]);
});

test('snoozes and skips come back, also those that only undone care would show', async () => {
  const fern = await user.plant({ wateringFrequencyDays: 3, fertilizerFrequencyDays: 30 });
  const mist = { care: 'other', label: 'Mist', everyDays: 3 };
  const { id: scheduleId } = bodyOf(
    await user.post(`/api/plants/${fern.id}/schedules`, mist).expect(201),
  );
  const post = (path: string, body: object) =>
    user.post(path, { plantId: fern.id, ...body }).expect(200);
  await post('/api/care/snooze', { type: 'watered', until: inDays(4) });
  await post('/api/care/skip', { type: 'fertilized' });
  await post('/api/care/snooze', { scheduleId, until: inDays(5) });
  const done = await user.event(fern.id, { type: 'watered', text: 'Done' });
  await bring((await partsOf(user))[0] ?? {}).expect(201);
  expect(await listsWithoutIds(other)).toEqual(await listsWithoutIds(user));
  const copied = bodyOf(await other.get('/api/events?q=Done'))['items'];
  const [copy] = listOf({ body: copied });
  await user.delete(`/api/events/${done.id}`).expect(200);
  await other.delete(`/api/events/${copy?.id ?? ''}`).expect(200);
  expect(await listsWithoutIds(other)).toEqual(await listsWithoutIds(user));
});

test('a plant whose events span parts is made once, however often they are imported', async () => {
  const oak = { id: id(1), name: 'Oak', wateringFrequencyDays: 3, photos: [image(2)] };
  const events = Array.from({ length: 5100 }, (_, at) => ({
    id: id(100 + at),
    type: at % 2 === 0 ? 'watered' : 'note',
    occurredAt: new Date(Date.UTC(2026, 0, 1) - Math.floor(at / 4) * 3_600_000).toISOString(),
    ...(at % 50 === 0 && { photoIds: [id(2)] }),
  }));
  for (const [index, some] of [events.slice(0, 2600), events.slice(2600)].entries()) {
    const plants = [{ ...oak, events: some }];
    await bring({ part: index + 1, parts: 2, plants }, user).expect(201);
  }
  const parts = await partsOf(user);
  const [first, second] = parts;
  expect(parts.map(({ part, parts: all }) => [part, all])).toEqual([
    [1, 2],
    [2, 2],
  ]);
  expect([eventsOf(first).length, eventsOf(second).length]).toEqual([5000, 100]);
  expect((await bring(first ?? {})).body).toEqual({ plants: 1, events: 5000 });
  for (const part of parts) await bring(part).expect(201);
  expect((await bring(second ?? {})).body).toEqual({ plants: 0, events: 0 });
  const textOf = async (of: TestUser) => withoutIds(JSON.stringify(await partsOf(of)));
  expect(await textOf(other)).toBe(await textOf(user));
  expect(await differencesOf(service.app, other.id)).toEqual([]);
  expectError(await user.get('/api/export?part=3'), 400, 'validation_error', /at most 2/);
});

test('photos that are shown before the part that has them are taken, but not those that no part has', async () => {
  const fern = { id: id(1), name: 'Fern', primaryPhotoId: id(9) };
  const event = { id: id(2), photoIds: [id(9)] };
  const first = { part: 1, parts: 2, plants: [{ ...fern, events: [event] }] };
  const oak = { id: id(3), name: 'Oak', photos: [image(9)] };
  await bring(first).expect(201);
  await bring({ part: 2, parts: 2, plants: [oak] }).expect(201);
  const shown = listOf(await other.get('/api/plants'));
  const plantId = shown.find(({ name }) => name === 'Oak')?.id;
  expect(shown.find(({ name }) => name === 'Fern')).toMatchObject({ primaryPhoto: { plantId } });
  expectError(await bring({ ...first, parts: 1 }, user), 400, 'photo_not_found');
});

test('what was deleted since comes back with its plant, in copies as well', async () => {
  const fern = { id: id(1), name: 'Fern', photos: [image(2)], events: [{ id: id(3) }] };
  const part = { part: 1, parts: 1, plants: [fern], photos: [image(4)] };
  const client = new Client(service.url, other.token);
  const copy = new Copy();
  await bring(part).expect(201);
  await copy.sync(client);
  const [plant] = listOf(await other.get('/api/plants'));
  for (const photo of listOf({ body: bodyOf(await other.get('/api/photos'))['items'] })) {
    await other.delete(`/api/photos/${photo.id}`).expect(200);
  }
  await other.delete(`/api/plants/${plant?.id ?? ''}`).expect(200);
  expect((await bring(part)).body).toEqual({ plants: 1, events: 1 });
  await copy.sync(client);
  const { plants, events, photos } = copy.contents;
  expect([plants.length, events.length, photos.length]).toEqual([1, 1, 2]);
  client.close();
});

test('a deleted plant that is imported again has the photos that stayed', async () => {
  const fern = { id: id(1), name: 'Fern', photos: [image(2)] };
  const part = { part: 1, parts: 1, plants: [fern] };
  await bring(part).expect(201);
  const [plant] = listOf(await other.get('/api/plants'));
  await other.delete(`/api/plants/${plant?.id ?? ''}`).expect(200);
  await bring(part).expect(201);
  const [again] = listOf(await other.get('/api/plants'));
  const { items } = bodyOf(await other.get(`/api/photos?plantId=${again?.id ?? ''}`));
  expect(items).toHaveLength(1);
});

test('a deleted event stays deleted, and one of a deleted schedule is without it', async () => {
  const fern = {
    id: id(1),
    name: 'Fern',
    schedules: [{ id: id(2), care: 'watered', everyDays: 3 }],
    events: [{ id: id(3), text: 'Deleted' }],
  };
  await bring({ part: 1, parts: 1, plants: [fern] }).expect(201);
  const [plant] = listOf(await other.get('/api/plants'));
  const [event] = listOf({ body: bodyOf(await other.get('/api/events'))['items'] });
  const [rule] = listOf(await other.get(`/api/plants/${plant?.id ?? ''}/schedules`));
  await other.delete(`/api/events/${event?.id ?? ''}`).expect(200);
  await other.delete(`/api/schedules/${rule?.id ?? ''}`).expect(200);
  const later = { id: id(4), text: 'Later', scheduleId: id(2) };
  const part = { part: 1, parts: 1, plants: [{ ...fern, events: [...fern.events, later] }] };
  expect((await bring(part)).body).toEqual({ plants: 0, events: 1 });
  const [left, ...others] = listOf({ body: bodyOf(await other.get('/api/events'))['items'] });
  expect(left).not.toHaveProperty('scheduleId');
  expect(others).toEqual([]);
  expect(await differencesOf(service.app, other.id)).toEqual([]);
});

test('each part is as large as one import may be', async () => {
  await storeLargest(service.app, user.id, { plants: 120, events: 200 });
  const parts = await partsOf(user);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) await bring(part).expect(201);
  const textOf = async (of: TestUser) => withoutIds(JSON.stringify(await partsOf(of)));
  expect(await textOf(other)).toBe(await textOf(user));
});

test('the records of a part need ids, and a part a number', async () => {
  const plants = [{ name: 'Fern', photos: [{ ...image(1), id: undefined }], events: [{}] }];
  const faults = async (body: object): Promise<unknown[]> => {
    const { details = [] } = (await bring(body)).body as { details?: { field: string }[] };
    return details.map(({ field }) => field);
  };
  expect(await faults({ part: 1, parts: 1, plants })).toEqual([
    'plants[0].id',
    'plants[0].photos[0].id',
    'plants[0].events[0].id',
  ]);
  expect(await faults({ part: 2, plants: [] })).toEqual(['parts']);
  expect(await faults({ parts: 2, plants: [] })).toEqual(['part']);
  expect(await faults({ part: 3, parts: 2, plants: [] })).toEqual(['part']);
  expect(await faults({ part: 1, parts: 1, csv: 'name\nFern\n' })).toEqual(['part', 'parts']);
  const event = { id: id(2) };
  const twice = { id: id(1), name: 'Fern', events: [event, event] };
  expect(await faults({ part: 1, parts: 1, plants: [twice, twice] })).toEqual([
    'plants[0].events[1].id',
    'plants[1].id',
    'plants[1].events[1].id',
  ]);
  expectError(await user.get('/api/export?format=csv&part=1'), 400, 'validation_error');
});
