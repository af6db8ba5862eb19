import { randomUUID } from 'node:crypto';

import type { Reconciliation } from '../../src/app/reconcile';
import type { TestService } from '../support/service';
import { CommandLine } from './run';
import { reconcile, accountsPlugin, dayOf, startService, toStoredId } from '../support/program';

let service: TestService;
let cli: CommandLine;

beforeEach(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
});

afterEach(() => service.close());

/** Corrupts every kind of derived data directly in the database. */
async function upset(userId: string): Promise<void> {
  const collection = (name: string) => service.app.database.connection.collection(name);
  await service.app.database.connection
    .collection<{ _id: string }>('accounts')
    .updateOne(
      { _id: userId },
      { $set: { 'usage.plants': 7, 'usage.photos': 7, 'usage.events': 7 } },
    );
  const day = dayOf(new Date());
  await collection('idempotencyUsage').insertOne({ userId, day, bytes: 7 });
  const never = new Date(0);
  await collection('plants').updateMany(
    { userId },
    { $set: { lastWatered: never, lastFertilized: never } },
  );
  await collection('careMonths').deleteMany({ userId });
  const { _id: _, ...event } = (await collection('events').findOne({ userId })) ?? {};
  const lost = { _id: toStoredId(randomUUID()), plantId: toStoredId(randomUUID()) };
  await collection('events').insertOne({ ...event, ...lost } as never);
  await collection('growth').updateMany({ userId }, { $set: { total: '99' } });
  const last = { at: new Date(0), on: '1970-01-01' };
  await collection('schedules').updateMany({ userId }, { $set: { last } });
}

test('reconcile --check finds what --repair repairs, account by account', async () => {
  const [fine, upsetUser] = [await service.user(), await service.user()];
  for (const user of [fine, upsetUser]) {
    const plant = await user.plant();
    await user.photo();
    await user.event(plant.id);
    await user.event(plant.id, { type: 'growth', growthAmount: 0.1, growthUnit: 'cm' });
    const schedule = { care: 'watered', everyDays: 3 };
    await user.post(`/api/plants/${plant.id}/schedules`, schedule).expect(201);
  }
  expect(await cli.json('reconcile', '--check')).toEqual({
    checked: 2,
    differences: [],
    failures: [],
    repaired: false,
  });

  const insights = (await upsetUser.get('/api/insights').expect(200)).body as unknown;
  await upset(upsetUser.id);
  const check = await cli.run('reconcile', '--check', '--json');
  expect({ code: check.code, stderr: check.stderr }).toEqual({ code: 1, stderr: '' });
  const found = JSON.parse(check.stdout) as {
    checked: number;
    differences: { user: string; derived: string; difference: string }[];
    repaired: boolean;
  };
  expect(found).toMatchObject({ checked: 2, repaired: false });
  expect(new Set(found.differences.map(({ user }) => user))).toEqual(new Set([upsetUser.id]));
  expect([...new Set(found.differences.map(({ derived }) => derived))].sort()).toEqual(
    // The command line has no plugins of the fixtures.
    service.app.derived
      .map(({ name }) => name)
      .filter((name) => !name.endsWith('chores'))
      .sort(),
  );
  for (const { difference } of found.differences) expect(difference).toContain('should be');

  const text = await cli.run('reconcile', '--check');
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^USER +DATA +DIFFERENCE\n/);
  expect(text.stdout).toMatch(/\n2 accounts checked, \d+ differences found\.\n$/);

  expect(await cli.json('reconcile', '--repair')).toEqual({ ...found, repaired: true });
  expect(await cli.text('reconcile', '--check')).toBe('2 accounts checked, 0 differences found.\n');
  expect((await upsetUser.get('/api/insights').expect(200)).body).toEqual(insights);
});

test('an account that cannot be recomputed is reported, and the others are reconciled', async () => {
  const [broken, other] = [
    await service.user({ id: 'a-broken' }),
    await service.user({ id: 'b-other' }),
  ];
  for (const user of [broken, other]) await user.event((await user.plant()).id);
  await upset(other.id);
  const damaged = { occurredAt: 'not a moment' };
  const events = service.app.database.connection.collection('events');
  await events.updateMany({ userId: broken.id }, { $set: damaged });
  const { code, stdout } = await cli.run('reconcile', '--repair', '--json');
  expect(code).toBe(1);
  const { differences, failures } = JSON.parse(stdout) as Reconciliation;
  expect(failures).toEqual([{ user: broken.id, reason: expect.any(String) as string }]);
  expect(new Set(differences.map(({ user }) => user))).toEqual(new Set([other.id]));
  const text = await cli.run('reconcile', '--check');
  expect(text).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('a-broken could not be recomputed: ') as string,
  });
});

test('an account that is deleted meanwhile is skipped', async () => {
  // As many as are recomputed at once.
  const busy = Array.from({ length: 8 }, (_, index) => `b-busy-${index}`);
  for (const id of ['a-first', ...busy, 'c-deleted']) await service.user({ id });
  const { connection } = service.app.database;
  const session = await connection.startSession();
  session.startTransaction();
  await connection
    .collection<{ _id: string }>('accounts')
    .updateMany({ _id: { $in: busy } }, { $inc: { revision: 1 } }, { session });
  let deletion: Promise<void> | undefined;
  const found = await reconcile(service.app, {
    repair: false,
    onAccount: () => {
      // The next accounts wait until the last one has been deleted.
      deletion ??= service.app
        .exportsOf(accountsPlugin)
        .data.deleteUser('c-deleted', () => undefined)
        .then(() => session.endSession());
    },
  });
  await deletion;
  const checked = 1 + busy.length;
  expect(found).toEqual({ checked, differences: [], failures: [], repaired: false });
});
