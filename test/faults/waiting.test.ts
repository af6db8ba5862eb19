import { Client, type Reply } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { ProxiedService } from '../support/proxied-service';
import type { TestUser } from '../support/service';
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

test('while MongoDB stays away, writes that wait for others are answered as soon as those', async () => {
  const { service, proxy } = proxied;
  const user = await service.user();
  const { id } = await user.plant();
  const client = new Client(service.url, user.token);
  const send = () => client.send('POST', `/api/plants/${id}/events`, { body: {} });
  const sent = Array.from({ length: 100 }, send);
  // The first answer is there, so the writes behind it are waiting.
  await Promise.race(sent);
  proxy.fail('cut');
  const answers = await Promise.allSettled(sent);
  const exitOf = (answer: PromiseSettledResult<Reply>) =>
    answer.status === 'fulfilled' ? answer.value.status : String(answer.reason);
  const outcomes = new Set(answers.map(exitOf));
  outcomes.delete(201);
  expect([...outcomes]).toEqual([503]);
});

/** At once there are 32 transactions of accounts, and eight others, which note the uses of tokens. */
const TRANSACTIONS = 32 + 8;
/** More than there are connections to MongoDB: of these, transactions without a bound would take all. */
const ACCOUNTS = 60;

test.each([
  // Each in a transaction of its own.
  [
    'long',
    ACCOUNTS - 32,
    (user: TestUser, eventId: string) => user.patch(`/api/events/${eventId}`, { text: 'x' }),
  ],
  // Those that come within a few milliseconds share one, up to sixteen accounts.
  ['short', 0, (user: TestUser) => user.post('/api/plants', { name: 'Fern' })],
] as const)(
  'while %s writes of many accounts hang, others read, and what waits is counted',
  async (_length, depth, write) => {
    const { service, proxy } = proxied;
    const writers = await several(ACCOUNTS, async () => {
      const user = await service.user();
      const plant = await user.plant();
      const event = await user.event(plant.id);
      return () => write(user, event.id);
    });
    const reader = await service.user();
    const { id } = await reader.plant();
    const lost = new Set<string>();
    proxy.onCommand(({ inTransaction, session = '' }) => {
      if (!inTransaction) return undefined;
      lost.add(session);
      return 'requests lost';
    });
    const writes = writers.map(async (send) => (await send()).status);
    const waiting = async () => valueOf(await scrape(service.url), 'plantcare_write_queue_depth');
    const areWaiting = async () => lost.size > 0 && (await waiting()) === depth;
    await until(areWaiting, 100);
    expect(lost.size).toBeLessThanOrEqual(TRANSACTIONS);
    for (let count = 0; count < 5; count += 1) await reader.get(`/api/plants/${id}`).expect(200);
    proxy.restore();
    // So that what was lost is sent again.
    proxy.fail('cut', { onlyOpen: true });
    for (const status of await Promise.all(writes)) expect([200, 201, 503]).toContain(status);
    for (const send of writers) {
      const { status } = await send();
      expect([200, 201]).toContain(status);
    }
  },
);
