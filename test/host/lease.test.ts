import { setTimeout as sleep } from 'node:timers/promises';

import { Metrics } from '../../src/core/metrics';
import { resetClock, setClock } from '../support/clock';
import { Database, Lease, leaseModel, freshDatabase } from '../support/program';

const YEAR_MS = 365 * 86_400_000;

let database: Database;

beforeEach(async () => {
  database = new Database(new Metrics());
  await database.connect(freshDatabase());
});
afterEach(async () => {
  resetClock();
  await database.close();
});

const leaseOf = (): Lease => new Lease(database.model(leaseModel), 'migrations');

test('the result of the work is returned even if the lease cannot be released', async () => {
  const work = async (): Promise<never> => {
    await database.close();
    throw new Error('The work failed.');
  };
  await expect(leaseOf().hold(work, () => undefined)).rejects.toThrow('The work failed.');
});

test.each([
  ['ahead', YEAR_MS],
  ['slow', -YEAR_MS],
])('a lease of a process whose clock is %s lasts as long as any', async (_how, ms) => {
  const held = async () => {
    const db = database.connection.getClient().db(database.connection.name);
    const [lease] = await db
      .collection('leases')
      .aggregate([{ $project: { leftMs: { $subtract: ['$until', '$$NOW'] } } }])
      .toArray();
    return Number(lease?.['leftMs']);
  };
  setClock(Date.now() + ms);
  const ran = await leaseOf().try(async () => {
    expect(await held()).toBeGreaterThan(0);
    expect(await held()).toBeLessThanOrEqual(15_000);
    expect(await leaseOf().isHeld()).toBe(true);
    resetClock();
    expect(await leaseOf().isHeld()).toBe(true);
    setClock(Date.now() - ms);
    expect(await leaseOf().try(() => sleep(0))).toBe(false);
  });
  expect(ran).toBe(true);
  expect(await leaseOf().isHeld()).toBe(false);
});

test('a lease that was not released is free once its time is over', async () => {
  const lease = leaseOf();
  await lease.try(async () => {
    const over = [{ $set: { until: '$$NOW' } }];
    await database.model(leaseModel).collection.updateOne({}, over);
    expect(await lease.isHeld()).toBe(false);
    expect(await leaseOf().try(() => sleep(0))).toBe(true);
  });
});
