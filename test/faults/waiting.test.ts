import { Client, type Reply } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { ProxiedService } from '../support/proxied-service';
import { several } from '../support/several';
import { startProxiedService } from '../support/program';

let proxied: ProxiedService;

beforeAll(async () => {
  proxied = await startProxiedService();
});
beforeEach(async () => {
  proxied.proxy.restore();
  const { anonymous } = proxied.service;
  await until(async () => (await anonymous.get('/readyz')).status === 200);
});
afterAll(() => proxied.close());

test('during an outage of MongoDB, queued writes get their response as soon as earlier ones', async () => {
  const { service, proxy } = proxied;
  const user = await service.user();
  const { id } = await user.plant();
  const client = new Client(service.url, user.token);
  const send = () => client.send('POST', `/api/plants/${id}/events`, { body: {} });
  const sent = Array.from({ length: 100 }, send);
  // The first response has arrived, so the next writes are waiting.
  await Promise.race(sent);
  proxy.fail('cut');
  const answers = await Promise.allSettled(sent);
  const exitOf = (answer: PromiseSettledResult<Reply>) =>
    answer.status === 'fulfilled' ? answer.value.status : String(answer.reason);
  const outcomes = new Set(answers.map(exitOf));
  outcomes.delete(201);
  expect([...outcomes]).toEqual([503]);
});

/** The limit of concurrent transactions of the write queue. */
const MOST = 32;
/** More than connections to MongoDB: unlimited transactions would take all of them. */
const ACCOUNTS = 60;

test('while writes of many accounts hang, reads succeed, and waiting writes are counted', async () => {
  const { service, proxy } = proxied;
  const writers = await several(ACCOUNTS, async () => {
    const user = await service.user();
    const plant = await user.plant();
    const event = await user.event(plant.id);
    return { user, send: () => user.patch(`/api/events/${event.id}`, { text: 'x' }) };
  });
  const reader = await service.user();
  const { id } = await reader.plant();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const accounts = service.app.database.connection.collection<{ _id: string }>('accounts');
  const held: Promise<unknown>[] = [];
  for (const { user } of writers.slice(0, MOST)) {
    // One after another, since concurrent ones share a transaction.
    await new Promise<void>((begun) => {
      const write = service.app.writeQueue.run(user.id, async ({ session }) => {
        begun();
        await released;
        await accounts.findOne({ _id: user.id }, { session });
      });
      held.push(write);
    });
  }
  const writes = writers.slice(MOST).map(async ({ send }) => (await send()).status);
  const waiting = async () => valueOf(await scrape(service.url), 'plantcare_write_queue_depth');
  await until(async () => (await waiting()) === ACCOUNTS - MOST);
  const lost = new Set<string>();
  proxy.onCommand(({ inTransaction, session = '' }) => {
    if (!inTransaction) return undefined;
    lost.add(session);
    return 'requests lost';
  });
  release();
  await until(() => lost.size >= MOST);
  for (let count = 0; count < 5; count += 1) await reader.get(`/api/plants/${id}`).expect(200);
  proxy.restore();
  // So that lost commands are sent again.
  proxy.fail('cut', { onlyOpen: true });
  await Promise.all(held);
  for (const status of await Promise.all(writes)) expect([200, 503]).toContain(status);
  for (const { send } of writers) expect((await send()).status).toBe(200);
});
