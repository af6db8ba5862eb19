import accountsPlugin from '../../plugins/accounts';
import eventsPlugin from '../../plugins/events';
import type { App } from '../../src/app/app';
import { toStoredId } from '../../src/core/ids';
import { logMany } from '../support/bulk';
import { Client, record, records } from '../support/client';
import { differencesOf } from '../support/differences';
import { until } from '../support/processes';
import {
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
} from '../support/real-server';
import { startService } from '../support/service';
import { median } from '../support/statistics';

const FEW = 10;

/** How many events of a plant are yet to be marked deleted. */
async function pending(app: App, userId: string, plantId: string): Promise<number> {
  const { events } = app.exportsOf(eventsPlugin);
  return app.database.snapshot(async (session) => {
    const found: unknown[] = [];
    for await (const fact of events.careEntries(userId, session, {
      plantIds: [toStoredId(plantId)],
    }))
      found.push(fact);
    return found.length;
  });
}

/** Reads all that must not know the removed plant any more. */
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

test('removing a plant with very many events takes about as long as one with ten', async () => {
  // Only the answer is measured: what is finished afterwards does not run here.
  const service = await startService({ jobs: false });
  try {
    const user = await service.user();
    const sizes = [FEW, FEW, 10_000, FEW, 10_000, FEW, 10_000];
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
    expect(median(times.get(10_000) ?? [])).toBeLessThan(10 * median(times.get(FEW) ?? []));
  } finally {
    await service.close();
  }
}, 120_000);

test('a removed plant counts nowhere, from the answer on and until its last event is marked', async () => {
  const service = await startService();
  try {
    const user = await service.user({ timezone: 'Asia/Tokyo' });
    const kept = await user.plant();
    const removed = await user.plant();
    await logMany(service.app, user.id, { [kept.id]: FEW, [removed.id]: 5000 });
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
    expect(await until(isDone, { within: 60_000 })).toBe(true);
    expect(moments).toBeGreaterThan(1);
    await expectGone(client, removed.id);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  } finally {
    await service.close();
  }
}, 120_000);

test('a removal that was cut short by a kill is right meanwhile, and finished after it', async () => {
  const dataDir = await dataDirectory();
  let server = await RealServer.start(dataDir);
  try {
    const userId = 'gardener';
    const token = await asOperator(dataDir, async (app) => {
      const scopes = [...app.scopes.keys()];
      const wanted = { userId, tier: 'pro' as const, scopes, name: 'test', expiresInSeconds: 3600 };
      return (await app.exportsOf(accountsPlugin).createToken(wanted)).token;
    });
    const plantOf = async (name: string) => {
      const client = new Client(server.url, token);
      const reply = await client.send('POST', '/api/plants', { body: { name } });
      return String(record(reply.body)['id']);
    };
    const [kept, removed] = [await plantOf('Fern'), await plantOf('Ivy')];
    const total = 6000;
    await asOperator(dataDir, async (app) => {
      await logMany(app, userId, { [kept]: FEW, [removed]: total });
      await new Client(server.url, token).send('DELETE', `/api/plants/${removed}`);
      const isHalfWay = async () => (await pending(app, userId, removed)) < total;
      expect(await until(isHalfWay, { within: 30_000, every: 1 })).toBe(true);
      await server.kill();
      expect(await pending(app, userId, removed)).toBeGreaterThan(0);
    });

    server = await RealServer.start(dataDir);
    const client = new Client(server.url, token);
    await asOperator(dataDir, async (app) => {
      const isDone = async () => {
        await expectGone(client, removed);
        expect(await differencesOf(app, userId)).toEqual([]);
        return (await pending(app, userId, removed)) === 0;
      };
      expect(await until(isDone, { within: 60_000 })).toBe(true);
      await expectGone(client, removed);
      expect(await differencesOf(app, userId)).toEqual([]);
    });
    expect(await server.stop()).toBe(0);
    expect(await runningServers(dataDir)).toEqual([]);
  } finally {
    server.process.kill('SIGKILL');
    await removeDataDirectory(dataDir);
  }
}, 120_000);
