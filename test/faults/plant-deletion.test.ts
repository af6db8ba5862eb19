import type { App } from '../../src/app/app';
import { Client, record, records } from '../support/client';
import { until } from '../support/processes';
import { median } from '../support/statistics';
import {
  toStoredId,
  logMany,
  differencesOf,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  startService,
} from '../support/program';

const FEW = 10;
/** Marking so many events as deleted takes far more than ten times as long as the rest of a deletion. */
const MANY = 5000;
/** Marked in several steps of a thousand events. */
const STEPS = 20_000;

/** The number of events of a plant that are yet to be marked as deleted. */
function pending(app: App, userId: string, plantId: string): Promise<number> {
  const events = app.database.connection.collection('events');
  return events.countDocuments({ userId, plantId: toStoredId(plantId), deletedAt: null });
}

/** Reads everything that must no longer include the deleted plant. */
async function expectGone(client: Client, plantId: string): Promise<void> {
  const insights = await client.send('GET', '/api/insights');
  expect(insights.status).toBe(200);
  const { overview, growthTracking, careActivityByDay } = record(insights.body);
  expect(overview).toMatchObject({ totalPlants: 1, totalEvents: FEW });
  expect(records(growthTracking).map((one) => one['plantId'])).not.toContain(plantId);
  const counts = records(careActivityByDay).map(({ count }) => Number(count));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(FEW);
  const list = await client.send('GET', `/api/plants/${plantId}/events`);
  expect(list.status).toBe(404);
}

test('deleting a plant with very many events takes about as long as deleting one with ten', async () => {
  // Only the request is measured; the job does not run here.
  const service = await startService({ jobs: false });
  try {
    const user = await service.user();
    const sizes = [FEW, FEW, MANY, FEW, MANY, FEW];
    const plants = await Promise.all(
      sizes.map(async (size) => ({ size, id: (await user.plant()).id })),
    );
    const counts = Object.fromEntries(plants.map(({ id, size }) => [id, size]));
    await logMany(service.app, user.id, counts);
    const client = new Client(service.url, user.token);
    const times = new Map<number, number[]>();
    for (const { id, size } of plants) {
      const started = performance.now();
      const { status } = await client.send('DELETE', `/api/plants/${id}`);
      times.set(size, [...(times.get(size) ?? []), performance.now() - started]);
      expect(status).toBe(200);
    }
    // Other load on the machine can only add to a time.
    expect(Math.min(...(times.get(MANY) ?? []))).toBeLessThan(10 * median(times.get(FEW) ?? []));
  } finally {
    await service.close();
  }
});

test('a deleted plant counts nowhere from the response on, while its events are marked as deleted', async () => {
  const service = await startService();
  try {
    const user = await service.user({ timezone: 'Asia/Tokyo' });
    const kept = await user.plant();
    const removed = await user.plant();
    await logMany(service.app, user.id, { [kept.id]: FEW, [removed.id]: STEPS });
    const client = new Client(service.url, user.token);
    const page = await client.send('GET', `/api/plants/${removed.id}/events`);
    const [event] = records(record(page.body)['items']);
    const eventPath = `/api/events/${String(event?.['id'])}`;
    await user.delete(`/api/plants/${removed.id}`).expect(200);
    await user.delete(eventPath).expect(404);
    await user.patch(eventPath, { text: 'late' }).expect(404);
    let moments = 0;
    const isDone = async () => {
      await expectGone(client, removed.id);
      expect(await differencesOf(service.app, user.id)).toEqual([]);
      moments += 1;
      return (await pending(service.app, user.id, removed.id)) === 0;
    };
    // Each check takes as long as a step.
    await until(isDone, 250);
    expect(moments).toBeGreaterThan(1);
    await expectGone(client, removed.id);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  } finally {
    await service.close();
  }
});

test('a deletion that a kill interrupted has no visible rest, and is finished afterwards', async () => {
  // It must not finish the deletion before the other server was killed.
  const watching = await startService({ jobs: false });
  const { app, mongodbUri } = watching;
  const dataDir = await dataDirectory();
  const given = { MONGODB_URI: mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const server = await RealServer.start(dataDir, given);
  try {
    const user = await watching.user();
    const [kept, removed] = [await user.plant(), await user.plant()];
    await logMany(app, user.id, { [kept.id]: FEW, [removed.id]: STEPS });
    await new Client(server.url, user.token).send('DELETE', `/api/plants/${removed.id}`);
    const isHalfWay = async () => (await pending(app, user.id, removed.id)) < STEPS;
    await until(isHalfWay, 10);
    await server.kill();
    expect(await pending(app, user.id, removed.id)).toBeGreaterThan(0);

    const client = new Client(watching.url, user.token);
    app.startJobs();
    const isDone = async () => {
      await expectGone(client, removed.id);
      expect(await differencesOf(app, user.id)).toEqual([]);
      return (await pending(app, user.id, removed.id)) === 0;
    };
    await until(isDone, 1000);
    await expectGone(client, removed.id);
    expect(await differencesOf(app, user.id)).toEqual([]);
  } finally {
    await server.kill();
    await watching.close();
    await removeDataDirectory(dataDir);
  }
});
