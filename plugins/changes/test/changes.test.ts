import { Client } from '../../../test/support/client';
import { changesSince, Copy, listed } from '../../../test/support/copy';
import { resetClock, setClock } from '../../../test/support/clock';
import { queriesOf } from '../../../test/support/profiler';
import type { TestService, TestUser } from '../../../test/support/service';
import { several } from '../../../test/support/several';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { encodePosition } from '../../../src/core/cursor';
import { DAY_MS } from '../../../src/core/time';
import {
  startService,
  pruneDeletions,
  accountsPlugin,
  plantsPlugin,
} from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let client: Client;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  user = await service.user();
  client = new Client(service.url, user.token);
});
afterEach(() => {
  resetClock();
  client.close();
});

const EMPTY = {
  plants: [],
  events: [],
  photos: [],
  schedules: [],
  snoozes: [],
  deleted: [],
  hasMore: false,
};

async function upToDate(): Promise<string> {
  const copy = new Copy();
  await copy.sync(client);
  return copy.cursor ?? '';
}

test('an account without records has no changes, but a cursor', async () => {
  const page = await changesSince(client);
  expect(page).toEqual({ ...EMPTY, nextCursor: expect.any(String) as string });
  expect(await changesSince(client, page.nextCursor)).toEqual(page);
});

test('without a cursor all records are returned, as in the lists', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  await user.event(plant.id, { photoIds: [photo.id] });
  const gone = await user.event(plant.id);
  await user.delete(`/api/events/${gone.id}`).expect(200);
  const copy = new Copy();
  await copy.sync(client);
  expect(copy.contents).toEqual(await listed(client, [photo.id]));
  expect((await changesSince(client)).deleted).toEqual([]);
});

test('a sync after one event is one request of less than 2 KB', async () => {
  const plant = await user.plant();
  const cursor = await upToDate();
  const event = await user.event(plant.id, { text: 'A good soak' });
  const response = await user.get(`/api/changes?since=${cursor}`).expect(200);
  expect(bodyOf(response)).toMatchObject({
    plants: [{ id: plant.id, lastEvent: event['occurredAt'] }],
    events: [event],
    photos: [],
    deleted: [],
    hasMore: false,
  });
  expect(response.text.length).toBeLessThan(2000);
});

test('changes that are still the same are 304', async () => {
  await user.plant();
  const cursor = await upToDate();
  const first = await user.get(`/api/changes?since=${cursor}`).expect(200);
  await user
    .get(`/api/changes?since=${cursor}`)
    .set('If-None-Match', String(first.headers['etag']))
    .expect(304);
});

test('deletions of events and plants are listed by kind and id', async () => {
  const plant = await user.plant();
  const kept = await user.plant();
  const event = await user.event(kept.id);
  await user.event(plant.id);
  const cursor = await upToDate();
  await user.delete(`/api/events/${event.id}`).expect(200);
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  const page = await changesSince(client, cursor);
  expect(page.deleted).toEqual([
    { kind: 'event', id: event.id },
    { kind: 'plant', id: plant.id },
  ]);
  expect(page.plants.map(({ id }) => id)).toEqual([kept.id]);
  expect(page.events).toEqual([]);
});

test('the deletion of a plant implies the deletion of its events, before and after they are marked as deleted', async () => {
  const plant = await user.plant();
  const cursor = await upToDate();
  for (let count = 0; count < 5; count += 1) await user.event(plant.id);
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  const gone = { ...EMPTY, deleted: [{ kind: 'plant', id: plant.id }] };
  expect(await changesSince(client, cursor)).toMatchObject(gone);
  const jobs = service.app.contributions.flatMap((each) => each.jobs ?? []);
  const marking = jobs.find(({ name }) => name === 'mark the events of deleted plants deleted');
  await marking?.run(new AbortController().signal);
  expect(await changesSince(client, cursor)).toMatchObject(gone);
  expect(await changesSince(client)).toMatchObject(EMPTY);
});

test('records that show a cropped photo are sent again, a page at a time', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  const events: string[] = [];
  for (let count = 0; count < 7; count += 1) {
    events.push((await user.event(plant.id, { photoIds: [photo.id] })).id);
  }
  const copy = new Copy();
  await copy.sync(client);
  const crop = { x: 10, y: 10, width: 100, height: 100 };
  await user.patch(`/api/photos/${photo.id}`, crop).expect(200);
  const before = copy.applied;
  await copy.sync(client, () => 3);
  expect(copy.contents).toEqual(await listed(client, [photo.id]));
  expect([...copy.events.keys()].sort()).toEqual(events.sort());
  expect(copy.applied - before).toBe(3);
});

test('only records that show a deleted photo are sent again', async () => {
  // A bulk load, before which no copy was begun.
  const { writeQueue } = service.app;
  await writeQueue.run(user.id, (tx) => service.app.exportsOf(plantsPlugin).insertBulk(tx, []));
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  await user.event(plant.id, { photoIds: [photo.id] });
  await user.event(plant.id);
  await user.photo();
  const copy = new Copy();
  await copy.sync(client);
  await user.delete(`/api/photos/${photo.id}`).expect(200);
  const changes = await changesSince(client, copy.cursor);
  expect(changes).toMatchObject({
    plants: [{ id: plant.id, primaryPhotoId: null }],
    events: [{ photos: [] }],
    photos: [],
    deleted: [{ kind: 'photo', id: photo.id }],
  });
});

test('only events that show a deleted photo are read to send them again', async () => {
  const photo = await user.photo();
  const { id } = await user.plant();
  await several(40, () => user.event(id));
  await several(2, () => user.event(id, { photoIds: [photo.id] }));
  const since = await upToDate();
  await user.delete(`/api/photos/${photo.id}`).expect(200);
  const queries = await queriesOf(service, async () => {
    expect((await changesSince(client, since)).events).toHaveLength(2);
  });
  const ofEvents = queries.filter(({ collection }) => collection === 'events');
  expect(Math.max(...ofEvents.map(({ keysExamined }) => keysExamined))).toBeLessThanOrEqual(3);
});

test('a response has at most `limit` records, deletions included, and at most 1 MB', async () => {
  const plant = await user.plant();
  const events = await Promise.all(
    Array.from({ length: 30 }, () => user.event(plant.id, { text: '\u0001'.repeat(2000) })),
  );
  const cursor = await upToDate();
  for (const { id } of events.slice(0, 10)) await user.delete(`/api/events/${id}`).expect(200);
  const page = await changesSince(client, cursor, 4);
  expect(page.plants.length + page.events.length + page.deleted.length).toBe(4);
  expect(page.hasMore).toBe(true);
  const secureUrl = `https://images.example.com/${'p'.repeat(2000)}`;
  const photos = await Promise.all(Array.from({ length: 20 }, () => user.photo({ secureUrl })));
  const photoIds = photos.map(({ id }) => id);
  await Promise.all(Array.from({ length: 30 }, () => user.event(plant.id, { photoIds })));
  const response = await user.get('/api/changes?limit=500').expect(200);
  expect(response.text.length).toBeLessThan(1_000_000);
  expect(bodyOf(response)['hasMore']).toBe(true);
  const copy = new Copy();
  await copy.sync(client, () => 500);
  expect(copy.contents).toEqual(await listed(client, photoIds));
});

test('a cursor that was altered, or is for another account or list, is refused', async () => {
  const plant = await user.plant();
  await user.event(plant.id);
  await user.event(plant.id);
  const cursor = await upToDate();
  const last = cursor.endsWith('A') ? 'B' : 'A';
  const list = await user.get(`/api/plants/${plant.id}/events?limit=1`).expect(200);
  for (const since of ['', 'x', cursor.slice(0, -1) + last, cursor.slice(1)]) {
    expectError(await user.get(`/api/changes?since=${since}`), 400, 'invalid_cursor', /since/);
  }
  const ofList = String(bodyOf(list)['nextCursor']);
  expectError(await user.get(`/api/changes?since=${ofList}`), 400, 'invalid_cursor');
  const other = await service.user();
  expectError(await other.get(`/api/changes?since=${cursor}`), 400, 'invalid_cursor');
});

test('cursors of releases before 1.2.0 have expired', async () => {
  const account = await service.app.exportsOf(accountsPlugin).account(user.id);
  const { revision = 0, createdAt = new Date() } = account ?? {};
  const today = Math.floor(Date.now() / DAY_MS);
  for (const place of [
    `${today}-${createdAt.getTime()}.0.${revision}.5.`,
    `${today}.0.${revision}.~.`,
  ]) {
    const since = encodePosition([user.id, 'changes'], place);
    expectError(await user.get(`/api/changes?since=${since}`), 410, 'cursor_expired');
  }
});

test('a cursor is valid for 90 days', async () => {
  await user.plant();
  const cursor = await upToDate();
  const now = Date.now();
  setClock(now + 90 * DAY_MS);
  const later = await service.user({ id: user.id });
  await later.get(`/api/changes?since=${cursor}`).expect(200);
  setClock(now + 91 * DAY_MS);
  const latest = await service.user({ id: user.id });
  expectError(await latest.get(`/api/changes?since=${cursor}`), 410, 'cursor_expired', /without/);
  await latest.get('/api/changes').expect(200);
});

test('only the newest deletions of an account are kept, and older cursors expire', async () => {
  const other = await service.user();
  const gone = await other.plant();
  const others = new Client(service.url, other.token);
  const { nextCursor: otherCursor } = await changesSince(others);
  await other.delete(`/api/plants/${gone.id}`).expect(200);
  const plants = await Promise.all(Array.from({ length: 5 }, () => user.plant()));
  const first = await upToDate();
  for (const { id } of plants.slice(0, 2)) await user.delete(`/api/plants/${id}`).expect(200);
  const second = await upToDate();
  for (const { id } of plants.slice(2)) await user.delete(`/api/plants/${id}`).expect(200);
  const { signal } = new AbortController();
  for (let count = 0; count < 2; count += 1) {
    await pruneDeletions(service.app, signal, { kept: 2, max: 4 });
    expectError(await user.get(`/api/changes?since=${first}`), 410, 'cursor_expired');
  }
  expectError(await user.get(`/api/changes?since=${second}`), 410, 'cursor_expired');
  const copy = new Copy();
  await copy.sync(client);
  expect(copy.contents).toEqual(await listed(client, []));
  const { deleted } = await changesSince(others, otherCursor);
  expect(deleted).toEqual([{ kind: 'plant', id: gone.id }]);
  others.close();
  const remembered = service.app.database.connection.collection('deletions');
  // One stands for those that are forgotten.
  expect(await remembered.countDocuments({ userId: user.id })).toBe(3);
});

test('a cursor of a deleted account is not valid for a new account of the same name', async () => {
  await user.plant();
  const cursor = await upToDate();
  await service.app.exportsOf(accountsPlugin).data.deleteUser(user.id, () => undefined);
  const other = await service.user({ id: user.id });
  for (let count = 0; count < 3; count += 1) await other.plant();
  expectError(await other.get(`/api/changes?since=${cursor}`), 410, 'cursor_expired');
});

test('a cursor ahead of the account, as after a restore, is expired', async () => {
  await user.plant();
  const cursor = await upToDate();
  const accounts = service.app.database.connection.collection('accounts');
  await accounts.updateOne({ _id: user.id as never }, { $set: { revision: 0 } });
  expectError(await user.get(`/api/changes?since=${cursor}`), 410, 'cursor_expired');
});
