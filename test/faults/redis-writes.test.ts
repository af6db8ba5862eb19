import { scrape, valueOf } from '../support/metrics';
import { eventually } from '../support/processes';
import { startService, type TestService } from '../support/service';
import { NETWORK_FAULTS, TcpProxy } from '../support/tcp-proxy';
import { gardenFor, send, writes } from './kinds-of-write';

/** What a write takes, how long it waits for Redis at most, and much for a slow machine. */
const WRITE_MS = 5000;

let proxy: TcpProxy;
let service: TestService;

beforeAll(async () => {
  proxy = await TcpProxy.start(process.env['TEST_REDIS_URL'] ?? '');
  service = await startService({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
});
afterEach(() => {
  proxy.restore();
});
afterAll(async () => {
  // A client that is about to connect keeps the process alive for a while after it was closed.
  await untilShared();
  await service.close();
  await proxy.close();
});

/** How many calls were counted in memory so far. */
async function fallbacks(): Promise<number> {
  return valueOf(await scrape(service.url), 'plantcare_rate_limit_fallbacks_total') ?? 0;
}

/** Waits until calls are counted in Redis. */
async function untilShared(): Promise<void> {
  const user = await service.user();
  await eventually(async () => {
    const before = await fallbacks();
    await user.get('/api/plants').expect(200);
    return (await fallbacks()) === before;
  });
}

test.each(NETWORK_FAULTS)(
  '%s on the way to Redis costs no kind of write its answer',
  async (fault) => {
    const gardens = await Promise.all(
      writes.map(async (write) => ({ write, garden: await gardenFor(service, write) })),
    );
    await untilShared();
    const before = await fallbacks();
    const hasFailed = proxy.failAtNext(fault);
    const outcomes = await Promise.all(
      gardens.map(async ({ garden, write }) => {
        const { status } = await send(garden, write, WRITE_MS);
        garden.client.close();
        return { name: write.name, status };
      }),
    );
    expect(outcomes).toEqual(
      writes.map(({ name, operation }) => ({ name, status: operation.response.status })),
    );
    expect(hasFailed()).toBe(true);
    const counted = writes.filter(({ operation }) => typeof operation.limit === 'string').length;
    const inMemory = (await fallbacks()) - before;
    // Each of them was to be counted in Redis, and was not; what is late may still be in time.
    if (fault === 'delay') expect(inMemory).toBeGreaterThan(0);
    else expect(inMemory).toBe(counted);
  },
);
