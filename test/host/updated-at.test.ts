import { resetClock, setClock } from '../support/clock';
import { several } from '../support/several';
import { bodyOf, expectError } from '../support/shapes';
import { startService, userOf } from '../support/program';
import type { TestService, TestUser } from '../support/service';

type Item = Record<string, unknown> & { id: string; updatedAt: string };

interface Kind {
  make: () => Promise<Item>;
  path: string;
  /** A change of own fields. */
  edit: (index: number) => object;
}

const NOW = '2026-05-04T10:00:00.000Z';
const EARLIER = '2026-05-04T09:00:00.000Z';

let service: TestService;
let twin: TestService;
let user: TestUser;
/** The same user at the other process. */
let elsewhere: TestUser;
let plant: Item;

beforeAll(async () => {
  service = await startService({});
  twin = await startService({ mongodbUri: service.mongodbUri });
});
beforeEach(async () => {
  user = await service.user();
  elsewhere = userOf(twin.url, user.id, user.token);
  plant = (await user.plant()) as Item;
});
afterEach(resetClock);
afterAll(async () => {
  await twin.close();
  await service.close();
});

/** A header that refuses a change if another came before. */
const ifStill = (item: Item): [string, string] => ['If-Match', `"u:${item.updatedAt}"`];
const made = async (path: string, body: object) => bodyOf(await user.post(path, body)) as Item;
const schedule = () =>
  made(`/api/plants/${plant.id}/schedules`, { care: 'fertilized', everyDays: 30 });

const KINDS: [string, Kind][] = [
  [
    'plant',
    {
      make: async () => (await user.plant()) as Item,
      path: '/api/plants',
      edit: (index) => ({ notes: `Note ${index}` }),
    },
  ],
  [
    'event',
    {
      make: async () => (await user.event(plant.id)) as Item,
      path: '/api/events',
      edit: (index) => ({ text: `Text ${index}` }),
    },
  ],
  [
    'photo',
    {
      make: async () => (await user.photo()) as Item,
      path: '/api/photos',
      edit: (index) => ({ takenAt: `2026-01-01T00:00:${10 + index}Z` }),
    },
  ],
  [
    'schedule',
    { make: schedule, path: '/api/schedules', edit: (index) => ({ everyDays: 40 + index }) },
  ],
];

describe.each(KINDS)('of a %s', (_name, { make, path, edit }) => {
  const patch = (item: Item, index: number, as = user) =>
    as.patch(`${path}/${item.id}`, edit(index));

  test('edits at two processes within a millisecond all have their own updatedAt', async () => {
    setClock(NOW);
    const item = await make();
    const answers = await several(24, (index) =>
      patch(item, index, index % 2 === 0 ? user : elsewhere).expect(200),
    );
    const seen = answers.map((each) => (bodyOf(each) as Item).updatedAt);
    expect(new Set([item.updatedAt, ...seen]).size).toBe(25);
    expect([...seen].sort().at(-1)).toBe(new Date(Date.parse(NOW) + 24).toISOString());
  });

  test('a process whose clock is slow moves it forward too', async () => {
    setClock(NOW);
    const item = await make();
    setClock(EARLIER);
    const changed = bodyOf(await patch(item, 1, elsewhere).expect(200)) as Item;
    expect(changed.updatedAt > item.updatedAt).toBe(true);
    await patch(item, 2)
      .set(...ifStill(item))
      .expect(412);
    await patch(item, 2)
      .set(...ifStill(changed))
      .expect(200);
  });

  test('edits in a queue pass it on, and of two queues the later is refused', async () => {
    const item = await make();
    let last = item;
    for (const index of [1, 2, 3]) {
      last = bodyOf(
        await patch(last, index)
          .set(...ifStill(last))
          .expect(200),
      ) as Item;
    }
    expectError(await patch(item, 4, elsewhere).set(...ifStill(item)), 412, 'precondition_failed');
    const other = `"nonsense", W/"u:${last.updatedAt}-gzip"`;
    await elsewhere
      .delete(`${path}/${item.id}`)
      .set('If-Match', `"u:${item.updatedAt}"`)
      .expect(412);
    await elsewhere.delete(`${path}/${item.id}`).set('If-Match', other).expect(200);
    await patch(item, 5)
      .set(...ifStill(last))
      .expect(404);
  });

  test('tags that are none of its moments match no record', async () => {
    const item = await make();
    for (const tag of ['"u:"', '"u:undefined"', '"u:2026"', 'u:*', `u:${item.updatedAt}`]) {
      expectError(await patch(item, 1).set('If-Match', tag), 412, 'precondition_failed');
    }
  });

  test('of concurrent edits with it at two processes, exactly one succeeds', async () => {
    const item = await make();
    const answers = await several(10, (index) =>
      patch(item, index, index % 2 === 0 ? user : elsewhere).set(...ifStill(item)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
  });
});

test('care that is logged, counted, put off or skipped refuses no edit of plant and schedule', async () => {
  await user.patch(`/api/plants/${plant.id}`, { wateringFrequencyDays: 3 }).expect(200);
  const [before] = bodyOf(await user.get('/api/plants')) as unknown as Item[];
  if (!before) throw new Error('The plant is gone.');
  const rule = await schedule();
  const photo = await user.photo();
  const until = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
  const care = [{ type: 'watered' }, { scheduleId: rule.id }];
  await user.event(plant.id, { type: 'watered', photoIds: [photo.id] });
  for (const each of care) {
    const what = { plantId: plant.id, ...each };
    await user.post('/api/care/snooze', { ...what, until }).expect(200);
    await user.post('/api/care/skip', what).expect(200);
    await user.post('/api/care/done', what).expect(201);
  }
  await user
    .patch(`/api/plants/${plant.id}`, { notes: 'Mine' })
    .set(...ifStill(before))
    .expect(200);
  await user
    .patch(`/api/schedules/${rule.id}`, { everyDays: 9 })
    .set(...ifStill(rule))
    .expect(200);
  await user
    .patch(`/api/photos/${photo.id}`, { takenAt: null })
    .set(...ifStill(photo as Item))
    .expect(200);
});

test('archiving, unarchiving and a new name of its place move the updatedAt of a plant', async () => {
  setClock(NOW);
  const { id, updatedAt } = (await user.plant({ location: 'Attic' })) as Item;
  const seen = [updatedAt];
  setClock(EARLIER);
  const path = `/api/plants/${id}`;
  const look = async () => seen.push((bodyOf(await user.get(path).expect(200)) as Item).updatedAt);
  await user.post(`${path}/archive`, { reason: 'sold' }).expect(200);
  await look();
  await user.post(`${path}/unarchive`).expect(200);
  await look();
  await user.post('/api/locations/rename', { from: 'Attic', to: 'Hall' }).expect(200);
  await look();
  expect(new Set(seen).size).toBe(4);
  expect(seen).toEqual([...seen].sort());
});

test('a copy shows the same updatedAt as answers, lists and single records', async () => {
  const photo = (await user.photo()) as Item;
  const event = (await user.event(plant.id, { photoIds: [photo.id] })) as Item;
  const rule = await schedule();
  const copy = bodyOf(await user.get('/api/changes').expect(200)) as Record<string, Item[]>;
  for (const [kind, item] of Object.entries({
    plants: plant,
    photos: photo,
    events: event,
    schedules: rule,
  })) {
    expect(copy[kind]?.map(({ updatedAt }) => updatedAt)).toEqual([item.updatedAt]);
  }
});
