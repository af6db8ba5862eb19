import { randomUUID } from 'node:crypto';

import { mongo } from 'mongoose';

import { allPages, eventPage, type EventPage, newestFirst } from '../../../test/support/paging';
import { plantForEachTest } from '../../../test/support/plant-for-each-test';
import { expectError } from '../../../test/support/shapes';
import { storeLargest } from '../../../test/support/program';

const garden = plantForEachTest();

const moment = (minute: number): string => new Date(Date.UTC(2026, 2, 1, 0, minute)).toISOString();

/** Logs an event at each of some minutes. */
function log(minutes: readonly number[]) {
  return Promise.all(
    minutes.map((minute) =>
      garden.user.event(garden.plantId, { occurredAt: moment(minute), type: 'note' }),
    ),
  );
}

test('a plant without events has one empty page', async () => {
  expect(await eventPage(garden.user, garden.plantId)).toEqual({
    items: [],
    hasMore: false,
    nextCursor: null,
  });
});

test('a page has 15 events by default', async () => {
  const events = newestFirst(await log(Array.from({ length: 16 }, (_, index) => index)));
  const first = await eventPage(garden.user, garden.plantId);
  expect(first.items).toEqual(events.slice(0, 15));
  expect(first.hasMore).toBe(true);
  expect(first.nextCursor).toMatch(/^[\w-]+$/);
  const second = await eventPage(garden.user, garden.plantId, { cursor: first.nextCursor ?? '' });
  expect(second).toEqual({ items: events.slice(15), hasMore: false, nextCursor: null });
});

test('hasMore is false on the last page, even if it is full', async () => {
  await log([1, 2, 3, 4]);
  const first = await eventPage(garden.user, garden.plantId, { limit: 2 });
  const last = await eventPage(garden.user, garden.plantId, {
    limit: 2,
    cursor: first.nextCursor ?? '',
  });
  expect(last).toMatchObject({ hasMore: false, nextCursor: null });
  expect(last.items).toHaveLength(2);
  const all = await eventPage(garden.user, garden.plantId, { limit: 4 });
  expect(all).toMatchObject({ hasMore: false, nextCursor: null });
});

test('events are listed by when they occurred, not by when they were logged', async () => {
  const events = await log([5, 1, 9, 3, 7]);
  expect(await allPages(garden.user, garden.plantId, 2)).toEqual(newestFirst(events));
});

test('events at the same moment are listed by id, and none is lost or repeated between pages', async () => {
  await log([0]);
  const collection = garden.service.app.database.connection.collection('events');
  const stored = { userId: garden.user.id, plantId: new mongo.UUID(garden.plantId) };
  const [known] = await collection.find(stored).toArray();
  // Ids that do not sort by time, as those of other UUID versions; Mongoose's type expects ObjectIds.
  const copies = Array.from({ length: 25 }, (_, index) => ({
    ...known,
    _id: new mongo.UUID(randomUUID()),
    userId: garden.user.id,
    occurredAt: new Date(moment(index % 2)),
  })) as object as mongo.OptionalId<mongo.Document>[];
  await collection.insertMany(copies);
  for (const limit of [1, 3, 7, 100]) {
    const events = await allPages(garden.user, garden.plantId, limit);
    expect(events).toHaveLength(26);
    expect(events).toEqual(newestFirst(events));
  }
});

test('pages of every size add up to the same list', async () => {
  const events = newestFirst(await log([1, 2, 2, 3, 3, 3, 4, 5, 5, 6, 7]));
  for (const limit of [1, 2, 3, 5, 10, 11, 12, 100]) {
    expect(await allPages(garden.user, garden.plantId, limit)).toEqual(events);
  }
});

test('limit can change from page to page', async () => {
  const events = newestFirst(await log([1, 2, 3, 4, 5, 6]));
  const first = await eventPage(garden.user, garden.plantId, { limit: 1 });
  const rest = await eventPage(garden.user, garden.plantId, {
    limit: 100,
    cursor: first.nextCursor ?? '',
  });
  expect([...first.items, ...rest.items]).toEqual(events);
});

test('a page has at most 100 events', async () => {
  await log(Array.from({ length: 101 }, (_, index) => index));
  const page = await eventPage(garden.user, garden.plantId, { limit: 100 });
  expect(page.items).toHaveLength(100);
  expect(page.hasMore).toBe(true);
});

test.each([
  '0',
  '-1',
  '101',
  '1000',
  '1.5',
  '1e1',
  '0x10',
  '',
  '%20',
  '15%20',
  'ten',
  'null',
  'true',
  'NaN',
  'Infinity',
  '1e400',
  '99999999999999999999',
  '%EF%BC%91%EF%BC%95',
])('limit=%s is refused', async (limit) => {
  const response = await garden.user.get(`/api/plants/${garden.plantId}/events?limit=${limit}`);
  expectError(response, 400, 'validation_error', /\blimit\b/);
});

test.each([
  ['limit=5&limit=5', /\blimit\b/],
  ['cursor=a&cursor=a', /\bcursor\b/],
  ['limit[]=5', /limit/],
  ['limit[$gt]=5', /limit/],
  ['page=2', /\bpage\b/],
  ['Limit=5', /\bLimit\b/],
])('the query %s is refused', async (query, name) => {
  const response = await garden.user.get(`/api/plants/${garden.plantId}/events?${query}`);
  expectError(response, 400, 'validation_error', name);
});

test('paging is exact during writes: an event that exists throughout is seen once', async () => {
  const stable = await log(Array.from({ length: 30 }, (_, index) => index * 10));
  const passing = await log(Array.from({ length: 30 }, (_, index) => index * 10 + 5));
  let round = 0;
  const disturb = async (): Promise<void> => {
    round += 1;
    const victims = passing.splice(0, 3);
    await Promise.all([
      ...victims.map(({ id }) => garden.user.delete(`/api/events/${id}`).expect(200)),
      log([round * 20, round * 7, 290 - round * 11, 400]),
    ]);
  };
  const seen = await allPages(garden.user, garden.plantId, 4, disturb);
  const ids = seen.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(stable.map(({ id }) => id)));
  expect(seen).toEqual(newestFirst(seen));
});

test('paging is exact while writers never pause', async () => {
  const stable = await log(Array.from({ length: 40 }, (_, index) => index * 10));
  let done = false;
  const churn = async (offset: number): Promise<void> => {
    for (let minute = offset; !done; minute = (minute + 37) % 400) {
      const [event] = await log([minute]);
      await garden.user.delete(`/api/events/${event?.id ?? ''}`).expect(200);
    }
  };
  const writers = [churn(3), churn(150), churn(290)];
  try {
    for (let round = 0; round < 3; round += 1) {
      const ids = (await allPages(garden.user, garden.plantId, 3)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(stable.map(({ id }) => id)));
    }
  } finally {
    done = true;
    await Promise.all(writers);
  }
});

test('a cursor still works after the event that it points at is deleted', async () => {
  const events = newestFirst(await log([1, 2, 3, 4]));
  const first = await eventPage(garden.user, garden.plantId, { limit: 2 });
  await garden.user.delete(`/api/events/${events[1]?.id ?? ''}`).expect(200);
  const rest = await eventPage(garden.user, garden.plantId, {
    limit: 2,
    cursor: first.nextCursor ?? '',
  });
  expect(rest.items).toEqual(events.slice(2));
});

test('a page ends at 1 MB, and the next one continues with the next event', async () => {
  const { plantId: largest } = await storeLargest(garden.service.app, garden.user.id, {
    plants: 1,
    events: 25,
  });
  const seen: string[] = [];
  let cursor: string | null = '';
  let pages = 0;
  while (cursor !== null) {
    const search = new URLSearchParams({ limit: '100', ...(cursor === '' ? {} : { cursor }) });
    const answer = await garden.user.get(`/api/plants/${largest}/events?${search.toString()}`);
    const length = Buffer.byteLength(answer.text);
    const { items, hasMore, nextCursor } = answer.body as EventPage; // Compared here.
    expect(length).toBeLessThanOrEqual(1_000_000);
    expect(hasMore).toBe(nextCursor !== null);
    if (hasMore) expect(length).toBeGreaterThan(800_000);
    seen.push(...items.map(({ occurredAt }) => String(occurredAt)));
    cursor = nextCursor;
    pages += 1;
  }
  expect(pages).toBeGreaterThan(2);
  expect(new Set(seen).size).toBe(25);
  expect(seen).toEqual([...seen].sort().reverse());
  expect((await eventPage(garden.user, largest, { limit: 1 })).items).toHaveLength(1);
});
