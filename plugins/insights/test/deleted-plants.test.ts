import { insightsOf } from '../../../test/support/insights';
import { until } from '../../../test/support/processes';
import type { TestUser } from '../../../test/support/service';
import { accountsPlugin, logMany, startService } from '../../../test/support/program';

const EVENTS = 30;

/** A plant with a long history, and another one that is kept. */
async function garden(user: TestUser): Promise<{ staying: string; going: string }> {
  const staying = await user.plant({ name: 'Staying' });
  const going = await user.plant({ name: 'Going' });
  await user.event(staying.id, { occurredAt: '2026-03-01T12:00:00Z' });
  await Promise.all(
    Array.from({ length: EVENTS }, (_, index) =>
      user.event(going.id, {
        type: index % 3 === 0 ? 'growth' : 'watered',
        growthAmount: 0.1,
        growthUnit: 'cm',
        occurredAt: new Date(Date.UTC(2026, 2, 1 + (index % 9), 23, 30)).toISOString(),
      }),
    ),
  );
  return { staying: staying.id, going: going.id };
}

test('a deleted plant disappears from all totals at once, before a job has marked its events as deleted', async () => {
  const service = await startService({ jobs: false });
  try {
    const [user, reference] = await Promise.all([service.user(), service.user()]);
    const { going } = await garden(user);
    const alone = await reference.plant({ name: 'Staying' });
    await reference.event(alone.id, { occurredAt: '2026-03-01T12:00:00Z' });
    await user.delete(`/api/plants/${going}`).expect(200);
    expect(await insightsOf(user)).toEqual(await insightsOf(reference));
    const accounts = service.app.exportsOf(accountsPlugin);
    for (const { id } of [user, reference]) {
      await accounts.changeAccount(id, { timezone: 'Pacific/Auckland' });
    }
    expect(await insightsOf(user)).toEqual(await insightsOf(reference));
  } finally {
    await service.close();
  }
});

test('the totals stay the same while the events of a deleted plant are marked as deleted', async () => {
  const service = await startService({ jobs: false });
  const worker = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    const user = await service.user();
    const { going } = await garden(user);
    await user.delete(`/api/plants/${going}`).expect(200);
    const before = await insightsOf(user);
    expect(before.overview).toMatchObject({ totalPlants: 1, totalEvents: 1 });
    worker.app.startJobs();
    const removed = service.app.database.connection.collection('removedPlants');
    while ((await removed.countDocuments({ userId: user.id })) > 0) {
      expect(await insightsOf(user)).toEqual(before);
    }
    expect(await insightsOf(user)).toEqual(before);
  } finally {
    await worker.close();
    await service.close();
  }
});

test('deleting a plant with many events does not delay other deletions', async () => {
  const service = await startService({ jobs: false });
  try {
    const [many, few] = await Promise.all([service.user(), service.user()]);
    const [large, small] = await Promise.all([many.plant(), few.plant()]);
    await few.event(small.id);
    await logMany(service.app, many.id, { [large.id]: 4000 });
    await many.delete(`/api/plants/${large.id}`).expect(200);
    await few.delete(`/api/plants/${small.id}`).expect(200);
    service.app.startJobs();
    const removed = service.app.database.connection.collection('removedPlants');
    await until(async () => (await removed.countDocuments({ userId: few.id })) === 0);
    expect(await removed.countDocuments({ userId: many.id })).toBe(1);
  } finally {
    await service.close();
  }
});

test('a plant that is deleted while events are logged leaves nothing behind', async () => {
  const service = await startService();
  try {
    const user = await service.user();
    const { going } = await garden(user);
    const writes = Array.from({ length: 20 }, () => user.post(`/api/plants/${going}/events`, {}));
    const [deletion, ...logged] = await Promise.all([
      user.delete(`/api/plants/${going}`),
      ...writes,
    ]);
    expect(deletion.status).toBe(200);
    for (const { status } of logged) expect([201, 404]).toContain(status);
    const { overview, growthTracking } = await insightsOf(user);
    expect(overview).toMatchObject({ totalPlants: 1, totalEvents: 1 });
    expect(growthTracking).toEqual([]);
  } finally {
    await service.close();
  }
});

test('the log has the reason if the events of a deleted plant cannot be marked as deleted', async () => {
  const service = await startService();
  try {
    const user = await service.user();
    const { id } = await user.plant();
    await user.event(id);
    const events = service.app.database.connection.collection('events');
    await events.updateMany({ userId: user.id }, { $set: { occurredOn: 5 } });
    await user.delete(`/api/plants/${id}`).expect(200);
    const failure = () => service.logged.find((line) => line.includes('A job failed'));
    await until(() => failure() !== undefined);
    expect(JSON.parse(failure() ?? '')).toMatchObject({
      job: 'mark the events of deleted plants deleted',
      err: { message: expect.stringContaining('slice') as string },
    });
  } finally {
    await service.close();
  }
});
