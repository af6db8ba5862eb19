import { randomUUID } from 'node:crypto';

import type { Transaction } from '../../src/data/writing/transaction';
import type { TestService, TestUser } from '../support/service';
import {
  accountsPlugin,
  differencesOf,
  plantModel,
  toStoredId,
  startService,
  userOf,
} from '../support/program';

let one: TestService;
let two: TestService;

beforeAll(async () => {
  one = await startService();
  two = await startService({ mongodbUri: one.mongodbUri });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

/** All events of a plant, page by page. */
async function eventsOf(user: TestUser, plantId: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let next = '';
  for (;;) {
    const page = await user.get(`/api/plants/${plantId}/events?limit=100${next}`).expect(200);
    const { items: more, nextCursor } = page.body as {
      items: Record<string, unknown>[];
      nextCursor: string | null;
    };
    items.push(...more);
    if (nextCursor === null) return items;
    next = `&cursor=${nextCursor}`;
  }
}

async function overviewOf(user: TestUser): Promise<unknown> {
  const insights = await user.get('/api/insights').expect(200);
  return (insights.body as { overview: unknown }).overview;
}

async function revisionOf(user: TestUser): Promise<number> {
  const account = await one.app.exportsOf(accountsPlugin).account(user.id);
  if (!account) throw new Error('The account is gone.');
  return account.revision;
}

test('two hundred concurrent events through two processes are all stored and counted once', async () => {
  const user = await one.user();
  const elsewhere = userOf(two.url, user.id, user.token);
  const plant = await user.plant();
  const sent = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      (index % 2 === 0 ? user : elsewhere).event(plant.id, { text: String(index) }),
    ),
  );

  const kept = await eventsOf(user, plant.id);
  expect(kept.map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
  expect(new Set(kept.map(({ text }) => text)).size).toBe(200);
  expect(await overviewOf(elsewhere)).toMatchObject({ totalEvents: 200, totalPlants: 1 });
  const latest = kept
    .map(({ occurredAt }) => String(occurredAt))
    .sort()
    .at(-1);
  const after = await user.get(`/api/plants/${plant.id}`).expect(200);
  expect(after.body).toMatchObject({ lastWatered: latest, lastEvent: latest });
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('accounts that write concurrently do not affect each other', async () => {
  const users = await Promise.all([one.user(), one.user(), two.user(), two.user()]);
  await Promise.all(
    users.map(async (user, index) => {
      const plant = await user.plant();
      await Promise.all(Array.from({ length: index + 1 }, () => user.event(plant.id)));
    }),
  );
  for (const [index, user] of users.entries()) {
    expect(await overviewOf(user)).toMatchObject({ totalPlants: 1, totalEvents: index + 1 });
  }
});

test('an invalid write in a shared transaction fails alone', async () => {
  const user = await one.user();
  const plant = await user.plant();
  const bodies = Array.from({ length: 40 }, (_, index) =>
    index % 10 === 5 ? { photoIds: [randomUUID()] } : { text: String(index) },
  );
  const answers = await Promise.all(
    bodies.map((body) => user.post(`/api/plants/${plant.id}/events`, body)),
  );
  expect(answers.map(({ status }) => status)).toEqual(
    bodies.map((body) => ('photoIds' in body ? 400 : 201)),
  );
  const kept = await eventsOf(user, plant.id);
  expect(kept.map(({ text }) => text).sort()).toEqual(
    bodies.flatMap(({ text }) => text ?? []).sort(),
  );
  expect(await overviewOf(user)).toMatchObject({ totalEvents: 36 });
});

test('a write that throws undoes only its own effects', async () => {
  const user = await one.user();
  const { id } = await user.plant();
  const plants = one.app.database.model(plantModel);
  const note = (text: string, fails: boolean) =>
    one.app.writeQueue.run(user.id, async (tx) => {
      await plants.updateOne(
        { userId: user.id, _id: toStoredId(id) },
        { $set: { [text]: text } },
        { session: tx.session },
      );
      if (fails) throw new Error(`No ${text}.`);
      return text;
    });
  const outcomes = await Promise.allSettled([
    note('species', false),
    note('soilType', true),
    note('location', false),
  ]);
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: 'species' },
    { status: 'rejected', reason: { message: 'No soilType.' } },
    { status: 'fulfilled', value: 'location' },
  ]);
  const after = await user.get(`/api/plants/${id}`).expect(200);
  expect(after.body).toMatchObject({ species: 'species', soilType: null, location: 'location' });
});

test('a write that meets a conflict is retried and has one effect', async () => {
  const user = await one.user();
  const { id } = await user.plant({ wateringFrequencyDays: 1 });
  const scope = { userId: user.id, _id: toStoredId(id) };
  const plants = one.app.database.model(plantModel);
  let tries = 0;
  await one.app.writeQueue.run(user.id, async (tx: Transaction) => {
    tries += 1;
    // Another transaction changes the plant after the snapshot of this one was taken.
    const theirs = { $set: { notes: 'theirs' } };
    if (tries === 1) await plants.updateOne(scope, theirs, { middleware: false });
    await plants.updateOne(scope, { $inc: { wateringFrequencyDays: 1 } }, { session: tx.session });
    tx.addUsage('tested', 1);
  });
  expect(tries).toBe(2);
  const after = await user.get(`/api/plants/${id}`).expect(200);
  expect(after.body).toMatchObject({ notes: 'theirs', wateringFrequencyDays: 2 });
  const account = await one.app.exportsOf(accountsPlugin).account(user.id);
  expect(account?.usage).toMatchObject({ tested: 1 });
});

test('writes of one account in one process run in the order of their arrival', async () => {
  const user = await one.user();
  const found = await Promise.all(
    Array.from({ length: 20 }, () =>
      one.app.writeQueue.run(user.id, async (tx) => {
        const before = tx.account.usage['tested'] ?? 0;
        tx.addUsage('tested', 1);
        return before;
      }),
    ),
  );
  expect(found).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test('a dry run returns the value of the write, and writes nothing', async () => {
  const user = await one.user();
  const before = await revisionOf(user);
  const returned = await one.app.writeQueue.dryRun(user.id, async (tx) => {
    tx.addUsage('tested', 5);
    return tx.account.usage['tested'];
  });
  expect(returned).toBe(5);
  const account = await one.app.exportsOf(accountsPlugin).account(user.id);
  expect(account?.usage['tested']).toBeUndefined();
  expect(await revisionOf(user)).toBe(before);
});

test('every write increments the revision of its account, and no read does', async () => {
  const user = await one.user();
  const stranger = await one.user();
  const plant = await user.plant();
  const event = await user.event(plant.id);
  const photo = await user.photo();
  const before = await revisionOf(stranger);
  const writes = [
    () => user.post('/api/plants', { name: 'Ivy' }).expect(201),
    () => user.patch(`/api/plants/${plant.id}`, { notes: 'Leggy' }).expect(200),
    () => user.post(`/api/plants/${plant.id}/events`).expect(201),
    () => user.patch(`/api/events/${event.id}`, { text: 'Much' }).expect(200),
    () => user.delete(`/api/events/${event.id}`).expect(200),
    () => user.photo(),
    () => user.patch(`/api/photos/${photo.id}`, { x: 0, y: 0, width: 9, height: 9 }).expect(200),
    () => one.app.exportsOf(accountsPlugin).changeAccount(user.id, { timezone: 'Asia/Tokyo' }),
    () => user.delete(`/api/plants/${plant.id}`).expect(200),
  ];
  // The server keeps writing after a plant is deleted, so that comes last.
  for (const [index, write] of writes.entries()) {
    const revision = await revisionOf(user);
    await user.get('/api/plants').expect(200);
    expect([index, await revisionOf(user)]).toEqual([index, revision]);
    await write();
    expect(await revisionOf(user)).toBeGreaterThan(revision);
  }
  expect(await revisionOf(stranger)).toBe(before);
});

test('a dry run shares no transaction with the writes of its account, which its undoing would repeat', async () => {
  const user = await one.user();
  const { writeQueue } = one.app;
  let runs = 0;
  const write = () =>
    writeQueue.run(user.id, () => {
      runs += 1;
      return Promise.resolve();
    });
  const dryRun = () => writeQueue.dryRun(user.id, () => Promise.resolve('undone'));
  await Promise.all([write(), dryRun(), write(), dryRun(), write()]);
  expect(runs).toBe(3);
});
