import { randomUUID } from 'node:crypto';

import {
  commandsDuring,
  filtersOf,
  reconcile,
  startProxiedService,
  toStoredId,
} from '../../../test/support/program';

test('reconciliation of an account with many events reads those of a few plants per command', async () => {
  const proxied = await startProxiedService({ jobs: false });
  const { service, proxy } = proxied;
  try {
    const user = await service.user();
    const plants = await Promise.all(Array.from({ length: 25 }, () => user.plant()));
    for (const { id } of plants) await user.event(id, { type: 'growth', growthAmount: 1 });
    // More events than one command aggregates; deleted ones count too.
    const events = service.app.database.connection.collection('events');
    const { _id: _, ...event } = (await events.findOne({ userId: user.id })) ?? {};
    const deleted = { ...event, deletedAt: new Date() };
    await events.insertMany(
      Array.from({ length: 20_000 }, () => ({
        ...deleted,
        _id: toStoredId(randomUUID()) as never,
      })),
    );
    const commands = await commandsDuring(proxy, async () => {
      const { differences } = await reconcile(service.app, { repair: true });
      expect(differences.map(({ derived }) => derived)).toEqual(['usage of events']);
    });
    const sums = commands.filter(
      ({ name, collection }) => name === 'aggregate' && collection === 'events',
    );
    const read = sums.flatMap(filtersOf).flatMap(({ plantId }) => plantId ?? []);
    expect(read.length).toBeGreaterThan(0);
    for (const plantId of read) {
      expect((plantId as { $in: unknown[] }).$in.length).toBeLessThanOrEqual(10);
    }
  } finally {
    await proxied.close();
  }
});
