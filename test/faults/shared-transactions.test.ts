import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Transaction } from '../../src/data/writing/transaction';
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

/** The number of transactions that are committed meanwhile. */
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

/** Blocks shared transactions until `work` has queued the writes for the next one. */
async function heldUp(work: () => Promise<unknown>): Promise<void> {
  const [first] = await users(1);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    void service.app.writeQueue.run(first?.id ?? '', async () => {
      resolve();
      await released;
    });
  });
  await begun;
  const done = work();
  release();
  await done;
}

/** The texts of the events of a plant. */
async function textsOf(user: TestUser, plantId: string): Promise<string[]> {
  const response = await user.get(`/api/plants/${plantId}/events`).expect(200);
  return (response.body as { items: { text: string }[] }).items.map(({ text }) => text);
}

function write<T>(user: TestUser, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return service.app.writeQueue.run(user.id, work);
}

test('concurrent writes of many accounts share transactions, and each gets its own response', async () => {
  const writers = await users(30);
  const plants = await Promise.all(writers.map((user) => user.plant({ name: user.id })));
  const events = await Promise.all(
    writers.map((user, index) => user.event(plants[index]?.id ?? '', { text: user.id })),
  );
  expect(events.map(({ text }) => text)).toEqual(writers.map(({ id }) => id));
  const atOnce = () =>
    Promise.all(writers.map((user) => write(user, async ({ userId }) => userId)));
  expect(await committedDuring(atOnce)).toBeLessThan(20);
  for (const [index, user] of writers.entries()) {
    expect(await textsOf(user, plants[index]?.id ?? '')).toEqual([user.id]);
    const insights = await user.get('/api/insights').expect(200);
    expect(insights.body).toMatchObject({ overview: { totalPlants: 1, totalEvents: 1 } });
  }
});

test('each write in a shared transaction affects only its own account', async () => {
  const { events } = service.app.exportsOf(eventsPlugin);
  const stored = service.app.database.model(eventModel);
  const writers = await users(3);
  const plants = await Promise.all(writers.map((user) => user.plant()));
  const revisions = await Promise.all(
    writers.map((user) => write(user, (tx) => Promise.resolve(tx.revision))),
  );
  const sessions = new Set<unknown>();
  await heldUp(async () => {
    const seen = await Promise.all(
      writers.map((user, index) =>
        write(user, async (tx) => {
          sessions.add(tx.session);
          tx.addUsage('tested', 1);
          await events.create(tx, plants[index]?.id ?? '', { type: 'note', text: user.id });
          // It was buffered, to be sent with those of others; now it is counted.
          return [tx.userId, tx.account.id, tx.revision, await stored.countDocuments().of(tx)];
        }),
      ),
    );
    const wanted = writers.map(({ id }, index) => [id, id, (revisions[index] ?? NaN) + 1, 1]);
    expect(seen).toEqual(wanted);
  });
  expect(sessions.size).toBe(1);
  for (const [index, user] of writers.entries()) {
    expect(await write(user, (tx) => Promise.resolve(tx.account.usage['tested']))).toBe(1);
    expect(await textsOf(user, plants[index]?.id ?? '')).toEqual([user.id]);
  }
});

test('no write shares a transaction with the backlog of another account', async () => {
  const [busy, ...others] = await users(3);
  if (!busy) throw new Error('There is no user.');
  const sessions = new Map<string, Set<unknown>>();
  const record = (user: TestUser) =>
    write(user, (tx) => {
      sessions.set(user.id, (sessions.get(user.id) ?? new Set()).add(tx.session));
      return Promise.resolve();
    });
  await heldUp(() => Promise.all([busy, ...others, busy, busy].map(record)));
  const [backlog, ...rest] = [busy, ...others].map(({ id }) => [...(sessions.get(id) ?? [])]);
  expect(backlog).toHaveLength(1);
  expect(rest[0]?.[0]).toBe(rest[1]?.[0]);
  expect(rest[0]?.[0]).not.toBe(backlog?.[0]);
});

test('an invalid write among those of other accounts fails alone', async () => {
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

test('after a conflict with another process, all writes succeed on a retry', async () => {
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

test('a transaction that hangs does not block other accounts', async () => {
  const [slow, ...others] = await users(3);
  if (!slow) throw new Error('There is no user.');
  let release = (): void => undefined;
  const work = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  const held = service.app.writeQueue.run(slow.id, work);
  await Promise.all(others.map((user) => user.plant()));
  release();
  await held;
});

test('on a sharded cluster each account has transactions of its own', async () => {
  const writers = await users(6);
  const writeAtOnce = () =>
    committedDuring(() => Promise.all(writers.map((user) => write(user, () => sleep(1)))));
  const client = service.app.database.connection.getClient();
  const describe = (type: string): void => {
    // As the driver does once it knows the kind of its server.
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
