import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine } from '../cli/run';
import { record } from '../support/client';
import { until } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import { giveBack, takeDatabase, startService } from '../support/program';

let service: TestService;
let folder: string;
let client: mongo.MongoClient;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
  service = await startService({});
  client = await new mongo.MongoClient(service.mongodbUri).connect();
});

afterAll(async () => {
  await client.close();
  await service.close();
  await rm(folder, { recursive: true });
});

/** Writes until it is stopped: an event of the first user, one of the second, and so on. */
class Alternation {
  isStopped = false;
  written = 0;
  readonly #users: readonly [TestUser, TestUser];
  #plants: string[] = [];

  constructor(users: readonly [TestUser, TestUser]) {
    this.#users = users;
  }

  async run(): Promise<void> {
    this.#plants = await Promise.all(this.#users.map(async (user) => (await user.plant()).id));
    while (!this.isStopped) {
      for (const [index, user] of this.#users.entries()) {
        await user.event(this.#plants[index] ?? '', { type: 'growth', growthAmount: 0.1 });
      }
      this.written += 1;
    }
  }
}

test('a backup under load is a consistent snapshot, and can be restored', async () => {
  const cli = new CommandLine(service.mongodbUri);
  const garden = ['--tier', 'pro', '--plants', '20', '--events', '2000'];
  await cli.json('demo', '--user', 'demo', ...garden);
  const users = [await service.user(), await service.user()] as const;
  const alternation = new Alternation(users);
  const running = alternation.run();
  await until(() => alternation.written > 5);
  const file = path.join(folder, 'load.tar.gz');
  const before = alternation.written;
  let after: number;
  try {
    await cli.json('backup', 'create', file);
    after = alternation.written + 1;
  } finally {
    alternation.isStopped = true;
    await running;
  }
  // There were writes during the backup.
  expect(after - before).toBeGreaterThan(3);

  const uri = takeDatabase();
  const restored = new CommandLine(uri);
  const { documents } = record(await restored.json('backup', 'restore', file));
  const database = client.db(new URL(uri).pathname.slice(1));
  const counts = await Promise.all(
    users.map(({ id }) => database.collection('events').countDocuments({ userId: id })),
  );
  const [first = 0, second = 0] = counts;
  // A snapshot with a later write also has the earlier one, whatever their accounts.
  expect(first - second === 0 || first - second === 1).toBe(true);
  expect(second).toBeGreaterThanOrEqual(before);
  expect(first).toBeLessThanOrEqual(after + 1);
  const months = database.collection<{ days: Record<string, { growth: number }> }>('careMonths');
  const totals = await Promise.all(
    users.map(({ id }) => months.findOne({ userId: id, month: 'all' })),
  );
  const sums = totals.map((each) =>
    Object.values(each?.days ?? {}).reduce((sum, { growth }) => sum + growth, 0),
  );
  expect(sums).toEqual(counts);
  expect(Number(documents)).toBeGreaterThan(2000);
  expect(await restored.json('reconcile', '--check')).toMatchObject({ differences: [] });
  await giveBack(uri);
});

test('a restore invalidates ETags and cursors from before it', async () => {
  const cli = new CommandLine(service.mongodbUri);
  const user = await service.user();
  await user.plant();
  const file = path.join(folder, 'revisions.tar.gz');
  await cli.json('backup', 'create', file);
  const revisionIn = async (uri: string): Promise<number> => {
    const accounts = client
      .db(new URL(uri).pathname.slice(1))
      .collection<{ _id: string; revision: number }>('accounts');
    return Number((await accounts.findOne({ _id: user.id }))?.revision);
  };
  const restoredTwice: number[] = [];
  for (let count = 1; count <= 2; count += 1) {
    const uri = takeDatabase();
    await new CommandLine(uri).json('backup', 'restore', file);
    restoredTwice.push(await revisionIn(uri));
    await giveBack(uri);
  }
  const [first = 0, second = 0] = restoredTwice;
  const writesInBetween = 1000;
  expect(first).toBeGreaterThan((await revisionIn(service.mongodbUri)) + writesInBetween);
  expect(second).toBeGreaterThan(first);
});
