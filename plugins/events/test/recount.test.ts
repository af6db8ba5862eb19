import {
  commandsDuring,
  filtersOf,
  reconcile,
  startProxiedService,
} from '../../../test/support/program';

test('reconciliation of an account with many events reads those of a few plants per command', async () => {
  const proxied = await startProxiedService({ jobs: false });
  const { service, proxy } = proxied;
  try {
    const user = await service.user();
    const plants = await Promise.all(Array.from({ length: 25 }, () => user.plant()));
    for (const { id } of plants) await user.event(id, { type: 'growth', growthAmount: 1 });
    // As if there were more events than one command aggregates.
    await service.app.database.connection
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: user.id }, { $set: { 'usage.events': 20_001 } });
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
