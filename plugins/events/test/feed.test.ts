import { type EventPage, type ListedEvent, newestFirst } from '../../../test/support/paging';
import { type ProfiledQuery, queriesOf } from '../../../test/support/profiler';
import { several } from '../../../test/support/several';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { logMany, startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({
    jobs: false,
    env: { ANSWER_CACHE_MB: '0', TIER_PRO_PLANTS: '100000' },
  });
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

type Query = Record<string, string | number>;

async function page(query: Query = {}, of = user): Promise<EventPage> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const response = await of.get(`/api/events?${search.toString()}`).expect(200);
  return bodyOf(response) as unknown as EventPage; // The tests compare its fields.
}

async function all(query: Query = {}): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  let next: string | null = '';
  while (next !== null) {
    const { items, nextCursor, hasMore } = await page(
      next === '' ? query : { ...query, cursor: next },
    );
    expect(hasMore).toBe(nextCursor !== null);
    events.push(...items);
    next = nextCursor;
  }
  return events;
}

/** Events of all types over three plants at two locations, some at the same moment. */
async function garden(): Promise<{ plants: string[]; events: ListedEvent[] }> {
  const plants = [
    (await user.plant({ location: 'Hall' })).id,
    (await user.plant({ location: 'Hall' })).id,
    (await user.plant({ location: 'hall' })).id,
  ];
  const types = ['watered', 'fertilized', 'note', 'growth', 'journal'];
  const events: ListedEvent[] = await several(30, (index) =>
    user.event(plants[index % 3] ?? '', {
      type: types[index % 5],
      text: index % 4 === 0 ? `Thrips (${index})` : undefined,
      occurredAt: new Date(Date.UTC(2026, 2, 1 + (index % 10))).toISOString(),
    }),
  );
  const other = await service.user();
  await other.event((await other.plant({ location: 'Hall' })).id, { text: 'Thrips' });
  return { plants, events: newestFirst(events) };
}

test('the feed has every event of all plants, newest first, each on exactly one page', async () => {
  expect(await page()).toEqual({ items: [], hasMore: false, nextCursor: null });
  const { events } = await garden();
  expect((await page()).items).toEqual(events.slice(0, 15));
  for (const limit of [1, 7, 100]) expect(await all({ limit })).toEqual(events);
});

test('each filter, and all of them together, select the matching events', async () => {
  const { plants, events } = await garden();
  const [plantId = ''] = plants;
  const of = (wanted: (event: ListedEvent) => boolean) => events.filter(wanted);
  const from = '2026-03-03T00:00:00.000Z';
  const to = '2026-03-07T00:00:00.000Z';
  const at = (event: ListedEvent) => String(event['occurredAt']);
  const cases: [Query, (event: ListedEvent) => boolean][] = [
    [{ type: 'note' }, ({ type }) => type === 'note'],
    [{ plantId }, (event) => event['plantId'] === plantId],
    [{ plantId: plantId.toUpperCase() }, (event) => event['plantId'] === plantId],
    [{ location: 'Hall' }, (event) => plants.slice(0, 2).includes(String(event['plantId']))],
    [{ location: 'Attic' }, () => false],
    [{ plantId: NOBODYS_ID }, () => false],
    [{ plantId, location: 'hall' }, () => false],
    [{ from }, (event) => at(event) >= from],
    [{ to }, (event) => at(event) <= to],
    [{ from: to, to }, (event) => at(event) === to],
    [{ from, to }, (event) => at(event) >= from && at(event) <= to],
    [{ q: 'THRIPS (' }, ({ text }) => text !== null],
    [{ q: '.*' }, () => false],
    [
      { location: 'Hall', type: 'note', q: 'thrips', from, to },
      (event) => {
        const isHall = plants.slice(0, 2).includes(String(event['plantId']));
        const isBetween = at(event) >= from && at(event) <= to;
        return isHall && isBetween && event['type'] === 'note' && event['text'] !== null;
      },
    ],
    [
      { plantId, type: 'watered' },
      (event) => event['plantId'] === plantId && event['type'] === 'watered',
    ],
  ];
  for (const [query, wanted] of cases) {
    for (const limit of [2, 100]) {
      expect([query, await all({ ...query, limit })]).toEqual([query, of(wanted)]);
      const logged = await all({ ...query, limit, sort: 'createdAt' });
      expect([query, logged]).toEqual([query, newestFirst(of(wanted), 'createdAt')]);
    }
  }
});

test('what was logged last is found first, whenever it happened', async () => {
  const { plants } = await garden();
  const occurredAt = '2020-03-01T09:00:00.000Z';
  const watered = await user.event(plants[0] ?? '', { occurredAt });
  await user.patch(`/api/plants/${plants[1] ?? ''}`, { name: 'Oak' }).expect(200);
  expect((await page({ sort: 'createdAt', limit: 1 })).items).toEqual([watered]);
  expect((await page({ sort: 'occurredAt', limit: 1 })).items).not.toEqual([watered]);
  await user.delete(`/api/events/${watered.id}`).expect(200);
  expect((await all({ sort: 'createdAt' })).map(({ id }) => id)).not.toContain(watered.id);
});

test('events that are logged, moved and deleted meanwhile leave the pages by createdAt exact', async () => {
  const { plants, events } = await garden();
  const [moved, deleted] = newestFirst(events, 'createdAt').slice(-2);
  const seen: string[] = [];
  let query: Query = { sort: 'createdAt', limit: 4 };
  for (let next: string | null = ''; next !== null; query = { ...query, cursor: next ?? '' }) {
    const { items, nextCursor } = await page(query);
    if (next === '') {
      const occurredAt = new Date().toISOString();
      await user.patch(`/api/events/${moved?.id ?? ''}`, { occurredAt }).expect(200);
      await user.delete(`/api/events/${deleted?.id ?? ''}`).expect(200);
    }
    await user.event(plants[0] ?? '');
    seen.push(...items.map(({ id }) => id));
    next = nextCursor;
  }
  const left = newestFirst(events, 'createdAt').filter(({ id }) => id !== deleted?.id);
  expect(seen).toEqual(left.map(({ id }) => id));
});

test('deleted events and events of deleted plants are left out, restored ones are not', async () => {
  const { plants, events } = await garden();
  const [first] = events;
  await user.delete(`/api/events/${first?.id ?? ''}`).expect(200);
  expect(await all()).toEqual(events.slice(1));
  await user.post(`/api/events/${first?.id ?? ''}/restore`).expect(200);
  expect(await all()).toEqual(events);
  await user.delete(`/api/plants/${plants[0] ?? ''}`).expect(200);
  const left = events.filter(({ plantId }) => plantId !== plants[0]);
  expect(await all()).toEqual(left);
  expect(await all({ plantId: plants[0] ?? '' })).toEqual([]);
  expect(await all({ q: 'thrips' })).toEqual(left.filter(({ text }) => text !== null));
});

test('a cursor is valid only for the same account, filters and list', async () => {
  const { plants } = await garden();
  const [plantId = ''] = plants;
  const { nextCursor } = await page({ type: 'note', limit: 1 });
  const cursor = nextCursor ?? '';
  const ofFeed = (await page({ limit: 1 })).nextCursor ?? '';
  const ofPlant = bodyOf(await user.get(`/api/plants/${plantId}/events?limit=1`))['nextCursor'];
  await user.get(`/api/events?type=note&cursor=${cursor}&limit=50`).expect(200);
  for (const path of [
    `/api/events?cursor=${cursor}`,
    `/api/events?type=watered&cursor=${cursor}`,
    `/api/events?type=note&q=x&cursor=${cursor}`,
    `/api/events?type=note&from=2026-01-01T00:00:00Z&cursor=${cursor}`,
    `/api/events?type=note&location=Hall&cursor=${cursor}`,
    `/api/events?type=note&plantId=${plantId}&cursor=${cursor}`,
    `/api/events?type=note&cursor=${cursor.slice(0, -1)}`,
    `/api/events?type=note&cursor=`,
    `/api/events?sort=createdAt&cursor=${ofFeed}`,
    `/api/events?sort=createdAt&type=note&cursor=${cursor}`,
    `/api/events?cursor=${String(ofPlant)}`,
    `/api/events?plantId=${plantId}&cursor=${String(ofPlant)}`,
    `/api/plants/${plantId}/events?cursor=${ofFeed}`,
    `/api/photos?cursor=${ofFeed}`,
  ]) {
    expectError(await user.get(path), 400, 'invalid_cursor');
  }
  const other = await service.user();
  expectError(await other.get(`/api/events?cursor=${ofFeed}`), 400, 'invalid_cursor');
});

test.each([
  ['limit=0', ['limit']],
  ['limit=101', ['limit']],
  ['type=pruned', ['type']],
  ['plantId=fern', ['plantId']],
  ['from=2026-03-01', ['from']],
  ['from=2026-03-02T00:00:00Z&to=2026-03-01T23:59:59Z', ['to']],
  ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:30:00%2B01:00', ['to']],
  ['q=', ['q']],
  ['location=', ['location']],
  [`q=${'x'.repeat(101)}`, ['q']],
  ['sort=type', ['sort']],
])('%s is refused', async (query, fields) => {
  expect(faultsOf(await user.get(`/api/events?${query}`).expect(400))).toEqual(fields);
});

test('a page ends at 1 MB, and the next one continues there', async () => {
  const { id } = await user.plant();
  const secureUrl = `https://images.example.com/${'a'.repeat(2000)}`;
  const photos = await several(20, () => user.photo({ secureUrl }));
  const photoIds = photos.map((photo) => photo.id);
  await several(30, () => user.event(id, { text: '蕨'.repeat(2000), photoIds }));
  const first = await page({ limit: 100 });
  expect(first.hasMore).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThanOrEqual(1_000_000);
  expect(await all({ limit: 100 })).toHaveLength(30);
  expect(await all({ limit: 100, q: '蕨' })).toHaveLength(30);
});

test('a search stops after 5,000 events, and its cursor continues from there', async () => {
  const { id } = await user.plant();
  await logMany(service.app, user.id, { [id]: 5200 }, 1000);
  const event = await user.event(id, { text: 'Thrips!', occurredAt: '2001-01-01T00:00:00Z' });
  const queries = await queriesOf(service, async () => {
    const first = await page({ q: 'thrips' });
    expect(first).toMatchObject({ items: [], hasMore: true });
    const second = await page({ q: 'thrips', cursor: first.nextCursor ?? '' });
    expect(second).toEqual({ items: [event], hasMore: false, nextCursor: null });
    const sort = 'createdAt';
    const old = { sort, to: '2002-01-01T00:00:00Z', plantId: NOBODYS_ID };
    const logged = await page(old);
    expect(logged).toMatchObject({ items: [], hasMore: true });
    const rest = await page({ ...old, cursor: logged.nextCursor ?? '' });
    expect(rest).toEqual({ items: [], hasMore: false, nextCursor: null });
  });
  const examined = of('events', queries).map(({ docsExamined }) => docsExamined);
  expect(Math.max(...examined)).toBeLessThanOrEqual(5000);
});

function of(collection: string, queries: readonly ProfiledQuery[]): ProfiledQuery[] {
  return queries.filter((query) => query.collection === collection);
}

test('each filter reads its page by an index, without sorting', async () => {
  const made = await several(12, (index) =>
    user.plant({ location: index < 4 ? 'Hall' : `Attic ${index}` }),
  );
  const plants = made.map(({ id }) => id);
  await logMany(service.app, user.id, Object.fromEntries(plants.map((id) => [id, 400])));
  const [plantId = ''] = plants;
  // Between them each plant has two pages of events of each type.
  const from = new Date(Date.now() - 16 * 24 * 3600 * 1000).toISOString();
  const to = new Date(Date.now() - 3 * 24 * 3600 * 1000).toISOString();
  const filters: Query[] = [{}, { from }, { to }, { from, to }].flatMap((range) => [
    range,
    { ...range, type: 'growth' },
    { ...range, plantId },
    { ...range, location: 'Hall' },
    { ...range, plantId, type: 'growth' },
    { ...range, location: 'Hall', type: 'growth' },
  ]);
  for (const filter of filters) {
    const { nextCursor } = await page({ ...filter, limit: 20 });
    for (const query of [filter, { ...filter, cursor: nextCursor ?? '' }]) {
      const queries = await queriesOf(service, async () => {
        expect((await page({ ...query, limit: 20 })).items).toHaveLength(20);
      });
      const [search, ...more] = of('events', queries);
      expect([query, more.length, search?.sortsInMemory]).toEqual([query, 0, false]);
      expect(search?.plan).toMatch(/^IXSCAN/);
      // One event of each plant at a location is read ahead, and the one at the cursor again.
      expect([query, (search?.docsExamined ?? 0) <= 21 + 4 + 8]).toEqual([query, true]);
      expect([query, (search?.keysExamined ?? 0) <= 21 + 4 * 4 + 8]).toEqual([query, true]);
    }
  }
});

test('a location with more plants than MongoDB merges at once is listed in order, too', async () => {
  const made = await several(230, () => user.plant({ location: 'Hall' }));
  const plants = made.map(({ id }) => id);
  await logMany(service.app, user.id, Object.fromEntries(plants.map((id) => [id, 2])), 7_000);
  const queries = await queriesOf(service, async () => {
    const events = await all({ location: 'Hall', limit: 100 });
    expect(events).toHaveLength(460);
    expect(events).toEqual(newestFirst(events));
    expect(events).toEqual(await all({ limit: 100 }));
  });
  // MongoDB may sort as much as a page.
  const sorted = of('events', queries).filter(({ sortsInMemory }) => sortsInMemory);
  expect(sorted.filter(({ docsExamined }) => docsExamined > 100)).toEqual([]);
});
