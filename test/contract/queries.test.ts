import { water } from '../support/insights';
import type { Ids } from '../support/operations';
import { eventPage } from '../support/paging';
import { type ProfiledQuery, queriesOf } from '../support/profiler';
import type { TestService, TestUser } from '../support/service';
import {
  Garden,
  gardenOf,
  CLIENT_METHODS,
  operationRows,
  validRequest,
  startService,
} from '../support/program';

const EVENTS = 60;
const LIMIT = 15;
const START = Date.UTC(2026, 2, 1);

let service: TestService;
let user: TestUser;
let plantId: string;
let ids: Ids;
let garden: Garden;

beforeAll(async () => {
  // Without jobs, which read all accounts on purpose, and without cached responses.
  service = await startService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
  user = await service.user();
  const other = await service.user();
  ids = await gardenOf(user);
  garden = new Garden(user);
  plantId = ids['plant'] ?? '';
  const theirs = await other.plant({ location: 'Attic' });
  await Promise.all(
    Array.from({ length: EVENTS }, async (_, index) => {
      await user.event(plantId, {
        type: index % 4 === 0 ? 'watered' : 'note',
        occurredAt: new Date(START + index * 60_000).toISOString(),
        photoIds: [ids['photo']],
      });
      await other.event(theirs.id);
      if (index % 4 === 0) await user.plant({ location: `Room ${index}` });
    }),
  );
});
afterAll(() => service.close());

/** Queries whose cost grows with the stored data instead of the result. */
function bad(queries: readonly ProfiledQuery[]): ProfiledQuery[] {
  return queries.filter(({ plan, sortsInMemory }) => plan.includes('COLLSCAN') || sortsInMemory);
}

function of(collection: string, queries: readonly ProfiledQuery[]): ProfiledQuery[] {
  return queries.filter((query) => query.collection === collection);
}

const rows = operationRows();

test.each(rows)('%s neither scans a collection nor sorts in memory', async (_name, operation) => {
  const { method, path, body } = validRequest(operation, await garden.ids());
  const queries = await queriesOf(service, async () => {
    const test = user[CLIENT_METHODS[method]](path, body);
    await test.expect(operation.response.status);
  });
  garden.called(operation);
  expect(of('accounts', queries)).not.toEqual([]);
  expect(bad(queries)).toEqual([]);
});

test('a token is first found by its index, and then cached', async () => {
  const newcomer = await service.user();
  const read = () => newcomer.get('/api/locations').expect(200);
  const first = of('tokens', await queriesOf(service, read));
  // First to find its account, and again for the version under which it is cached.
  expect(first.filter(({ command }) => command.includes('"filter":{"hash"'))).toHaveLength(2);
  expect(bad(first)).toEqual([]);
  // The record of its use may come later, and is by id.
  const later = of('tokens', await queriesOf(service, read));
  expect(later.filter(({ command }) => command.includes('"filter":{"hash"'))).toEqual([]);
});

test('no write that updates derived data scans a collection or sorts in memory', async () => {
  const growth = { type: 'growth', growthAmount: 1, growthUnit: 'cm' };
  const queries = await queriesOf(service, async () => {
    const measured = await user.event(plantId, growth);
    await user.patch(`/api/events/${measured.id}`, { growthUnit: 'in' }).expect(200);
    const watering = await user.event(plantId, { photoIds: [ids['photo']] });
    const occurredAt = '2026-01-01T00:00:00Z';
    await user.patch(`/api/events/${watering.id}`, { occurredAt }).expect(200);
    await user.delete(`/api/events/${measured.id}`).expect(200);
    const plant = await user.plant({ primaryPhotoId: ids['photo'] });
    await user.photo({ plantId: plant.id });
    await user.event(plant.id, growth);
    await user.delete(`/api/plants/${plant.id}`).expect(200);
    const retry = { 'Idempotency-Key': 'once' };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await user.post('/api/plants', { name: 'Oak' }).set(retry).expect(201);
    }
  });
  for (const collection of ['events', 'plants', 'photos', 'growth', 'careMonths', 'keptAnswers']) {
    expect(of(collection, queries)).not.toEqual([]);
  }
  expect(bad(queries)).toEqual([]);
});

test('the first page of events reads one page from one index', async () => {
  const queries = await queriesOf(service, () => eventPage(user, plantId, { limit: LIMIT }));
  const [page, ...more] = of('events', queries);
  expect(more).toEqual([]);
  expect(page?.returned).toBe(LIMIT + 1);
  expect(page?.docsExamined).toBe(LIMIT + 1);
  expect(page?.keysExamined).toBeLessThanOrEqual(LIMIT + 2);
});

test('a page in the middle costs as much as the first one', async () => {
  let { nextCursor } = await eventPage(user, plantId, { limit: 40 });
  const cursor = nextCursor ?? '';
  const queries = await queriesOf(service, async () => {
    ({ nextCursor } = await eventPage(user, plantId, { limit: LIMIT, cursor }));
  });
  expect(nextCursor).not.toBeNull();
  const [page, ...more] = of('events', queries);
  expect(more).toEqual([]);
  // The event at the cursor is read again.
  expect(page?.docsExamined).toBeLessThanOrEqual(LIMIT + 2);
  expect(page?.keysExamined).toBeLessThanOrEqual(LIMIT + 3);
  expect(bad(queries)).toEqual([]);
});

test('a month reads only its own events', async () => {
  const query = `monthStart=${START}&monthEnd=${START + 9 * 60_000}`;
  const queries = await queriesOf(service, () =>
    user.get(`/api/plants/${plantId}/events/month?${query}`).expect(200),
  );
  const [month, ...more] = of('events', queries);
  expect(more).toEqual([]);
  expect(month).toMatchObject({ returned: 10, docsExamined: 10 });
  expect(bad(queries)).toEqual([]);
});

test('the photos of a page are read in one query, each once', async () => {
  const queries = await queriesOf(service, () => eventPage(user, plantId, { limit: LIMIT }));
  const photos = of('photos', queries);
  expect(photos).toHaveLength(1);
  expect(photos[0]?.docsExamined).toBe(1);
});

test('fifty plants are read in one query, and so are their photos', async () => {
  const someone = await service.user({ tier: 'pro' });
  const photo = await someone.photo();
  for (let count = 0; count < 50; count += 1) await someone.plant({ primaryPhotoId: photo.id });
  const queries = await queriesOf(service, () => someone.get('/api/plants').expect(200));
  expect(of('plants', queries).map(({ returned }) => returned)).toEqual([50]);
  expect(of('photos', queries)).toHaveLength(1);
});

test('neither the list of plants nor the insights read events', async () => {
  const gardener = await service.user();
  await gardenOf(gardener);
  const queries = await queriesOf(service, async () => {
    await gardener.get('/api/plants').expect(200);
    await gardener.get('/api/insights').expect(200);
    await gardener.get('/api/locations').expect(200);
  });
  expect(of('plants', queries)).not.toEqual([]);
  expect(of('events', queries)).toEqual([]);
  expect(bad(queries)).toEqual([]);
});

test('finding the latest event and the latest watering reads at most two events', async () => {
  const plant = await user.plant();
  const [last] = await water(user, plant.id, [
    '2026-03-14T00:00:00Z',
    '2026-03-13T00:00:00Z',
    '2026-03-12T00:00:00Z',
    '2026-03-11T00:00:00Z',
    '2026-03-10T00:00:00Z',
  ]);
  const queries = await queriesOf(service, () =>
    user.delete(`/api/events/${last?.id ?? ''}`).expect(200),
  );
  for (const { docsExamined, keysExamined } of of('events', queries)) {
    expect(docsExamined).toBeLessThanOrEqual(2);
    expect(keysExamined).toBeLessThanOrEqual(3);
  }
});

test('events that are logged concurrently are counted together', async () => {
  const { id } = await user.plant();
  const queries = await queriesOf(service, () =>
    Promise.all(Array.from({ length: 20 }, () => user.event(id))),
  );
  expect(of('plants', queries)).toHaveLength(20);
  // The first is sent alone; the others queue meanwhile.
  expect(of('careMonths', queries).length).toBeLessThanOrEqual(20);
});

test('logging an event reads no schedules, and logging a note writes none', async () => {
  const { id } = await user.plant();
  await user.post(`/api/plants/${id}/schedules`, { care: 'watered', everyDays: 3 }).expect(201);
  for (const [type, expected] of Object.entries({ note: [], watered: ['update'] })) {
    const queries = await queriesOf(service, () => user.event(id, { type }));
    expect(of('schedules', queries).map(({ command }) => command.split(' ')[0])).toEqual(expected);
  }
});

test('deleting a plant neither reads nor writes its events', async () => {
  const plant = await user.plant();
  await Promise.all(Array.from({ length: 20 }, () => user.event(plant.id)));
  const queries = await queriesOf(service, () =>
    user.delete(`/api/plants/${plant.id}`).expect(200),
  );
  expect(of('events', queries)).toEqual([]);
});
