import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

interface PhotoPage {
  items: { id: string; createdAt: string }[];
  hasMore: boolean;
  nextCursor: string | null;
}

async function page(query: Record<string, string | number> = {}, of = user): Promise<PhotoPage> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const response = await of.get(`/api/photos?${search.toString()}`).expect(200);
  return bodyOf(response) as unknown as PhotoPage; // The tests compare its fields.
}

async function photos(count: number, fields: object = {}): Promise<{ id: string }[]> {
  const made = [];
  for (let index = 0; index < count; index += 1) made.push(await user.photo(fields));
  return made;
}

test('photos are listed newest first, as GET /api/photos/{id} returns them', async () => {
  expect(await page()).toEqual({ items: [], hasMore: false, nextCursor: null });
  const made = await photos(3);
  await (await service.user()).photo();
  const { items } = await page();
  const moments = items.map(({ createdAt }) => createdAt);
  expect(moments).toEqual([...moments].sort().reverse());
  expect(items.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
  const [first] = items;
  expect((await user.get(`/api/photos/${first?.id ?? ''}`).expect(200)).body).toEqual(first);
});

test('pages have 15 photos by default, and each photo is on exactly one', async () => {
  const made = await photos(17);
  const first = await page();
  expect([first.items.length, first.hasMore]).toEqual([15, true]);
  const second = await page({ cursor: first.nextCursor ?? '' });
  expect([second.items.length, second.hasMore, second.nextCursor]).toEqual([2, false, null]);
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  expect([...ids].sort()).toEqual(made.map(({ id }) => id).sort());
  const small = await page({ limit: 1 });
  expect(small.items).toEqual(first.items.slice(0, 1));
});

test('the photos of a plant are those with its plantId, and none once it is deleted', async () => {
  const plant = await user.plant();
  await photos(2);
  const made = await photos(2, { plantId: plant.id });
  const ids = async () =>
    (await page({ plantId: plant.id.toUpperCase() })).items.map(({ id }) => id);
  expect((await ids()).sort()).toEqual(made.map(({ id }) => id).sort());
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  expect(await ids()).toEqual([]);
  expect((await page()).items).toHaveLength(4);
  expect((await page({ plantId: NOBODYS_ID })).items).toEqual([]);
});

test('by takenAt, the last taken come first and those without it last, in pages that lose none', async () => {
  const plant = await user.plant();
  const taken = ['2026-05-02T10:00:00Z', '2026-05-01T10:00:00Z', '1969-12-31T23:59:59Z'];
  for (let round = 0; round < 3; round += 1) {
    for (const takenAt of taken) await user.photo({ plantId: plant.id, takenAt });
    await user.photo({ plantId: plant.id });
  }
  await user.photo();
  const listed = async (query: object, limit: number) => {
    const items: { id: string; takenAt?: string | null }[] = [];
    for (let place = {}; ;) {
      const found = await page({ sort: 'takenAt', ...query, limit, ...place });
      items.push(...found.items);
      if (found.nextCursor === null) return items;
      place = { cursor: found.nextCursor };
    }
  };
  for (const [query, undated] of [
    [{}, 4],
    [{ plantId: plant.id }, 3],
  ] as const) {
    const all = await listed(query, 100);
    const expected = taken.flatMap((each) => Array<number>(3).fill(Date.parse(each)));
    const moments = all.map(({ takenAt }) => (takenAt ? Date.parse(takenAt) : null));
    expect(moments).toEqual([...expected, ...Array<null>(undated).fill(null)]);
    for (const limit of [1, 2, 3, 10]) expect(await listed(query, limit)).toEqual(all);
  }
  const { nextCursor } = await page({ sort: 'takenAt', limit: 1 });
  expectError(await user.get(`/api/photos?cursor=${nextCursor ?? ''}`), 400, 'invalid_cursor');
});

test('a cursor is valid only for the list that returned it', async () => {
  const plant = await user.plant();
  await photos(2, { plantId: plant.id });
  const { nextCursor } = await page({ limit: 1 });
  const cursor = nextCursor ?? '';
  for (const path of [
    `/api/photos?cursor=${cursor}&plantId=${plant.id}`,
    `/api/photos?cursor=${cursor.slice(0, -1)}`,
    `/api/plants/${plant.id}/events?cursor=${cursor}`,
  ]) {
    expectError(await user.get(path), 400, 'invalid_cursor');
  }
  const other = await service.user();
  expectError(await other.get(`/api/photos?cursor=${cursor}`), 400, 'invalid_cursor');
});

test.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['plantId=fern', 'plantId'],
  ['type=jpg', 'type'],
  ['sort=bytes', 'sort'],
])('%s is refused', async (query, field) => {
  expect(faultsOf(await user.get(`/api/photos?${query}`).expect(400))).toEqual([field]);
});
