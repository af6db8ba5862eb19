import { insightsOf } from '../../../test/support/insights';
import { eventPage, type ListedEvent } from '../../../test/support/paging';
import { queriesOf } from '../../../test/support/profiler';
import { several } from '../../../test/support/several';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({
    jobs: false,
    env: { TIER_FREE_EVENTS: '3', TIER_FREE_PLANTS: '200' },
  });
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

/** Creates plants, and returns their ids in the order of the list. */
async function plants(count: number, fields: object = {}, of = user): Promise<string[]> {
  const made = await several(count, () => of.plant(fields));
  const ids = new Set(made.map(({ id }) => id));
  const list = await of.get('/api/plants').expect(200);
  return (list.body as { id: string }[]).map(({ id }) => id).filter((id) => ids.has(id));
}

function itemsOf(answer: { body: unknown }): ListedEvent[] {
  return bodyOf(answer)['items'] as ListedEvent[]; // The tests compare these fields.
}

test('each plant gets its own event, in the order of the list of plants', async () => {
  const ids = await plants(3);
  const photo = await user.photo({ plantId: ids[1] });
  const care = { type: 'fertilized', text: 'Half a dose', occurredAt: '2026-03-01T09:30:00.000Z' };
  const body = { ...care, photoIds: [photo.id] };
  const plantIds = [ids[2], ids[0]?.toUpperCase(), ids[1]];
  const answer = await user.post('/api/events', { ...body, plantIds }).expect(201);
  const items = itemsOf(answer);
  expect(items.map(({ plantId }) => plantId)).toEqual(ids);
  for (const item of items) {
    expect(item).toMatchObject({ ...care, userId: user.id, photos: [photo] });
    expect((await eventPage(user, String(item['plantId']))).items).toEqual([item]);
  }
});

test('by default it is a watering now, and updates all derived data', async () => {
  const plantIds = await plants(3);
  const items = itemsOf(await user.post('/api/events', { plantIds }).expect(201));
  expect(new Set(items.map(({ type }) => type))).toEqual(new Set(['watered']));
  expect(new Set(items.map(({ occurredAt }) => occurredAt)).size).toBe(1);
  for (const [index, id] of plantIds.entries()) {
    const at = items[index]?.['occurredAt'];
    const plant = await user.get(`/api/plants/${id}`).expect(200);
    expect(plant.body).toMatchObject({ lastWatered: at, lastEvent: at });
  }
  const { overview, wateringStreaks } = await insightsOf(user);
  expect([overview.totalEvents, wateringStreaks.currentStreak]).toEqual([3, 1]);
});

test('an earlier occurredAt does not change plants that were watered since', async () => {
  const [one = '', other = ''] = await plants(2);
  const { occurredAt } = await user.event(one);
  const body = { plantIds: [one, other], occurredAt: '2020-01-01T00:00:00Z' };
  await user.post('/api/events', body).expect(201);
  expect((await user.get(`/api/plants/${one}`)).body).toMatchObject({ lastWatered: occurredAt });
  expect((await user.get(`/api/plants/${other}`)).body).toMatchObject({
    lastWatered: '2020-01-01T00:00:00.000Z',
  });
});

test('growth of many plants is summed up for each', async () => {
  const plantIds = await plants(3);
  const growth = { type: 'growth', growthAmount: 0.1, growthUnit: 'cm' };
  await user.event(plantIds[0] ?? '', growth);
  await user.post('/api/events', { ...growth, plantIds }).expect(201);
  const { growthTracking } = await insightsOf(user);
  expect(growthTracking.map(({ total, measurements }) => [total, measurements])).toEqual([
    [0.2, 2],
    [0.1, 1],
    [0.1, 1],
  ]);
});

test('a location selects exactly its plants', async () => {
  const hall = await plants(2, { location: 'Hall' });
  await plants(1, { location: 'hall' });
  await plants(1);
  await plants(1, { location: 'Hall' }, await service.user());
  const items = itemsOf(await user.post('/api/events', { location: 'Hall' }).expect(201));
  expect(items.map(({ plantId }) => plantId)).toEqual(hall);
  const none = await user.post('/api/events', { location: 'Attic' });
  expectError(none, 400, 'validation_error', /^location /);
});

test('care of 100 plants at a location is logged, and of 101 refused', async () => {
  const ids = await plants(101, { location: 'Hall' });
  const refused = await user.post('/api/events', { location: 'Hall' });
  expectError(refused, 400, 'validation_error', /100/);
  expect((await insightsOf(user)).overview.totalEvents).toBe(0);
  await user.delete(`/api/plants/${ids[0] ?? ''}`).expect(200);
  expect(itemsOf(await user.post('/api/events', { location: 'Hall' }).expect(201))).toHaveLength(
    100,
  );
});

test('with an unknown plant or photo, nothing is logged', async () => {
  const plantIds = await plants(2);
  const theirs = await (await service.user()).plant();
  for (const id of [NOBODYS_ID, theirs.id]) {
    const answer = await user.post('/api/events', { plantIds: [...plantIds, id] });
    expectError(answer, 400, 'plant_not_found', new RegExp(id));
  }
  const answer = await user.post('/api/events', { plantIds, photoIds: [NOBODYS_ID] });
  expectError(answer, 400, 'photo_not_found');
  expect((await insightsOf(user)).overview.totalEvents).toBe(0);
  expect((await user.get(`/api/plants/${plantIds[0] ?? ''}`)).body).toMatchObject({
    lastEvent: null,
  });
});

test.each([
  [{}, ['plantIds']],
  [{ plantIds: [] }, ['plantIds']],
  [{ plantIds: null }, ['plantIds']],
  [{ plantIds: [NOBODYS_ID, NOBODYS_ID] }, ['plantIds']],
  [{ plantIds: Array.from({ length: 101 }, () => NOBODYS_ID) }, ['plantIds']],
  [{ plantIds: ['fern'] }, ['plantIds']],
  [{ plantIds: [NOBODYS_ID], location: 'Hall' }, ['location']],
  [{ location: '' }, ['location']],
  [{ location: 'Hall', isJournal: true, type: 'note' }, ['type']],
  [{ location: 'Hall', colour: 'green', occurredAt: '2026-03-01' }, ['colour', 'occurredAt']],
])('%j is refused', async (body, fields) => {
  expect(faultsOf(await user.post('/api/events', body).expect(400))).toEqual(fields);
});

test('each event counts against the limit, and none is logged beyond it', async () => {
  const free = await service.user({ tier: 'free' });
  const plantIds = await plants(4, {}, free);
  const all = await free.post('/api/events', { plantIds });
  expectError(all, 403, 'feature_not_available');
  await free.post('/api/events', { plantIds: plantIds.slice(0, 2) }).expect(201);
  const two = await free.post('/api/events', { plantIds: plantIds.slice(0, 2) });
  expectError(
    two,
    403,
    'feature_not_available',
    /would add 2 events; the free tier leaves room for 1\./,
  );
  await free.post('/api/events', { plantIds: plantIds.slice(0, 1) }).expect(201);
  const one = await free.post(`/api/plants/${plantIds[0] ?? ''}/events`);
  expectError(one, 403, 'feature_not_available');
});

test('a retry with the same key logs nothing more', async () => {
  const plantIds = await plants(2);
  const send = () =>
    user.post('/api/events', { plantIds }).set('Idempotency-Key', 'once').expect(201);
  const first = await send();
  const second = await send();
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.body).toEqual(first.body);
  expect((await insightsOf(user)).overview.totalEvents).toBe(2);
});

test('a hundred plants take as many commands as one', async () => {
  const plantIds = await plants(100);
  const count = async (ids: readonly string[], fields: object) => {
    const queries = await queriesOf(service, () =>
      user.post('/api/events', { ...fields, plantIds: ids }).expect(201),
    );
    return queries.length;
  };
  const growth = { type: 'growth', growthAmount: 1, growthUnit: 'cm' };
  for (const fields of [{}, growth]) {
    await count(plantIds.slice(0, 1), fields);
    const one = await count(plantIds.slice(0, 1), fields);
    const ofGrowth = fields === growth ? 100 : 0; // Updates of a bulk are profiled one by one.
    expect(await count(plantIds, fields)).toBeLessThanOrEqual(one + ofGrowth);
  }
});
