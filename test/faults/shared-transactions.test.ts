import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Transaction } from '../../src/data/transaction';
import type { TestService, TestUser } from '../support/service';
import { eventsPlugin, eventModel, startService, userOf } from '../support/program';

let service: TestService;
let another: TestService;

beforeAll(async () => {
  service = await startService();
  another = await startService({ mongodbUri: service.mongodbUri });
});
afterAll(async () => {
  await another.close();
  await service.close();
});

function users(count: number): Promise<TestUser[]> {
  return Promise.all(Array.from({ length: count }, () => service.user()));
}

/** How many transactions of accounts are committed meanwhile. */
async function committedDuring(work: () => Promise<unknown>): Promise<number> {
  const committed = async (): Promise<number> => {
    const [, count] = /^plantcare_write_batch_size_count (\d+)$/m.exec(
      await service.app.metrics.text(),
    ) ?? ['', '0'];
    return Number(count);
  };
  const before = await committed();
  await work();
  return (await committed()) - before;
}

/** Holds up the shared transactions until `work` has put those that are to be in the next one. */
async function heldUp(work: () => Promise<unknown>): Promise<void> {
  const [first] = await users(1);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    void service.app.unitOfWork.run(
      first?.id ?? '',
      async () => {
        resolve();
        await released;
      },
      { isShort: true },
    );
  });
  await begun;
  const done = work();
  release();
  await done;
}

/** What the events of a plant say. */
async function textsOf(user: TestUser, plantId: string): Promise<string[]> {
  const response = await user.get(`/api/plants/${plantId}/events`).expect(200);
  return (response.body as { items: { text: string }[] }).items.map(({ text }) => text);
}

/** A write that others may wait for. */
function short<T>(user: TestUser, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return service.app.unitOfWork.run(user.id, work, { isShort: true });
}

test('what many accounts write at once shares transactions, and each gets its own answer', async () => {
  const writers = await users(30);
  const plants = await Promise.all(writers.map((user) => user.plant({ name: user.id })));
  const events = await Promise.all(
    writers.map((user, index) => user.event(plants[index]?.id ?? '', { text: user.id })),
  );
  expect(events.map(({ text }) => text)).toEqual(writers.map(({ id }) => id));
  const atOnce = () =>
    Promise.all(writers.map((user) => short(user, async ({ userId }) => userId)));
  expect(await committedDuring(atOnce)).toBeLessThan(20);
  for (const [index, user] of writers.entries()) {
    expect(await textsOf(user, plants[index]?.id ?? '')).toEqual([user.id]);
    const insights = await user.get('/api/insights').expect(200);
    expect(insights.body).toMatchObject({ overview: { totalPlants: 1, totalEvents: 1 } });
  }
});

test('all writes of a shared transaction are of the accounts that sent them', async () => {
  const { events } = service.app.exportsOf(eventsPlugin);
  const stored = service.app.database.records(eventModel);
  const writers = await users(3);
  const plants = await Promise.all(writers.map((user) => user.plant()));
  const revisions = await Promise.all(
    writers.map((user) => short(user, (tx) => Promise.resolve(tx.revision))),
  );
  const sessions = new Set<unknown>();
  await heldUp(async () => {
    const seen = await Promise.all(
      writers.map((user, index) =>
        short(user, async (tx) => {
          sessions.add(tx.session);
          tx.addUsage('tested', 1);
          await events.create(tx, plants[index]?.id ?? '', { type: 'note', text: user.id });
          // It was to be sent later, with those of others; now it is counted.
          return [tx.userId, tx.account.id, tx.revision, await stored.count(tx)];
        }),
      ),
    );
    const wanted = writers.map(({ id }, index) => [id, id, (revisions[index] ?? NaN) + 1, 1]);
    expect(seen).toEqual(wanted);
  });
  expect(sessions.size).toBe(1);
  for (const [index, user] of writers.entries()) {
    expect(await short(user, (tx) => Promise.resolve(tx.account.usage['tested']))).toBe(1);
    expect(await textsOf(user, plants[index]?.id ?? '')).toEqual([user.id]);
  }
});

test('a bad write fails alone among those of other accounts', async () => {
  const writers = await users(12);
  const plants = await Promise.all(writers.map((user) => user.plant()));
  const answers = await Promise.all(
    writers.map((user, index) => {
      const id = index % 4 === 1 ? randomUUID() : plants[index]?.id;
      return user.post(`/api/plants/${id}/events`, { text: user.id });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(
    writers.map((_, index) => (index % 4 === 1 ? 404 : 201)),
  );
  for (const [index, user] of writers.entries()) {
    const texts = await textsOf(user, plants[index]?.id ?? '');
    expect(texts).toEqual(index % 4 === 1 ? [] : [user.id]);
  }
});

test('an account whose write failed is kept apart, and undoes no others again', async () => {
  const [bad, ...good] = await users(4);
  if (!bad) throw new Error('There is no user.');
  const refused = (): Promise<unknown> =>
    short(bad, () => Promise.reject(new Error('refused'))).catch(() => undefined);
  await refused();
  const tries = new Map<string, number>();
  await heldUp(() =>
    Promise.all([
      refused(),
      ...good.map((user) =>
        short(user, (tx) => {
          tries.set(user.id, (tries.get(user.id) ?? 0) + 1);
          tx.addUsage('tested', 1);
          return Promise.resolve();
        }),
      ),
    ]),
  );
  expect([...tries.values()]).toEqual([1, 1, 1]);
});

test('an account whose writes are slow is kept apart, and done all the same', async () => {
  const [slow, ...others] = await users(4);
  if (!slow) throw new Error('There is no user.');
  const tries = new Map<string, number>();
  const write = (user: TestUser, ms: number) =>
    short(user, async (tx) => {
      tries.set(user.id, (tries.get(user.id) ?? 0) + 1);
      await sleep(ms);
      return tx.userId;
    });
  const all = () => Promise.all([write(slow, 600), ...others.map((user) => write(user, 1))]);
  await heldUp(async () => {
    expect(await all()).toEqual([slow.id, ...others.map(({ id }) => id)]);
  });
  // Undone so that nobody waits for it, and done apart.
  expect(tries.get(slow.id)).toBe(2);
  const before = new Map(tries);
  await all();
  expect(tries).toEqual(new Map([...before].map(([id, count]) => [id, count + 1])));
});

test('a conflict with another process undoes nobody else for good', async () => {
  const writers = await users(10);
  const plants = await Promise.all(writers.map((user) => user.plant()));
  const elsewhere = writers.map((user) => userOf(another.url, user.id, user.token));
  await Promise.all(
    [...writers, ...elsewhere].map(async (user, index) => {
      for (let turn = 0; turn < 5; turn += 1) await user.event(plants[index % 10]?.id ?? '');
    }),
  );
  for (const user of writers) {
    const insights = await user.get('/api/insights').expect(200);
    expect(insights.body).toMatchObject({ overview: { totalEvents: 10 } });
  }
});

test.each([
  ['shared', true],
  ['long', false],
])('a %s transaction that hangs holds up no other account', async (_kind, isShort) => {
  const [slow, ...others] = await users(3);
  if (!slow) throw new Error('There is no user.');
  let release = (): void => undefined;
  const work = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  const held = service.app.unitOfWork.run(slow.id, work, { isShort });
  await Promise.all(others.map((user) => user.plant()));
  release();
  await held;
});

test('on a sharded cluster each account has transactions of its own', async () => {
  const writers = await users(6);
  const writeAtOnce = () =>
    committedDuring(() => Promise.all(writers.map((user) => short(user, () => sleep(1)))));
  const client = service.app.database.connection.getClient();
  const describe = (type: string): void => {
    // As the driver does once it knows what it is connected to.
    client.emit('topologyDescriptionChanged', { newDescription: { type } } as never);
  };
  expect(await writeAtOnce()).toBeLessThan(6);
  try {
    describe('Sharded');
    expect(await writeAtOnce()).toBe(6);
  } finally {
    describe('ReplicaSetWithPrimary');
  }
});
