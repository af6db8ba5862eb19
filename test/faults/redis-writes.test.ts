import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import { type Garden, gardenFor, send, type Write, writes } from './kinds-of-write';
import { startService, NETWORK_FAULTS, TcpProxy } from '../support/program';

/** A write, and whose it is. */
interface Case {
  garden: Garden;
  write: Write;
}

const [repeated, once] = [
  writes.filter(isRepeatable),
  writes.filter((write) => !isRepeatable(write)),
];

let proxy: TcpProxy;
let service: TestService;
/** For writes that can be done again and again; to make their gardens takes eight times as many. */
let lasting: Case[];

beforeAll(async () => {
  proxy = await TcpProxy.start(process.env['TEST_REDIS_URL'] ?? '');
  service = await startService({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
  // With a key they would be answered as before.
  lasting = (await casesOf(repeated)).map(({ garden, write: { operation, ...write } }) => ({
    garden,
    write: { ...write, operation: { ...operation, idempotent: false } },
  }));
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

/** Whether a write leaves what it needs to be done once more. */
function isRepeatable({ operation: { method, path } }: Write): boolean {
  return method !== 'DELETE' && !/\/(?:delete|restore)$/.test(path);
}

function casesOf(some: readonly Write[]): Promise<Case[]> {
  return Promise.all(
    some.map(async (write) => ({ write, garden: await gardenFor(service, write) })),
  );
}

/** How many calls were counted in memory so far. */
async function fallbacks(): Promise<number> {
  return valueOf(await scrape(service.url), 'plantcare_rate_limit_fallbacks_total') ?? 0;
}

/** Waits until calls are counted in Redis. */
async function untilShared(): Promise<void> {
  const user = await service.user();
  let before = await fallbacks();
  const isShared = async (): Promise<boolean> => {
    await user.get('/api/plants').expect(200);
    const after = await fallbacks();
    const isCounted = after === before;
    before = after;
    return isCounted;
  };
  // A connection without an answer is made anew after two seconds: there is much to ask until then.
  await until(isShared, 250);
}

test.each(NETWORK_FAULTS)(
  '%s on the way to Redis costs no kind of write its answer',
  async (fault) => {
    const cases = [...lasting, ...(await casesOf(once))];
    await untilShared();
    const before = await fallbacks();
    const hasFailed = proxy.failAtNext(fault);
    const outcomes = await Promise.all(
      cases.map(async ({ garden, write }) => {
        const { status } = await send(garden, write);
        garden.client.close();
        return { name: write.name, status };
      }),
    );
    expect(outcomes).toEqual(
      cases.map(({ write: { name, operation } }) => ({ name, status: operation.response.status })),
    );
    expect(hasFailed()).toBe(true);
    const inMemory = (await fallbacks()) - before;
    // Each of them was to be counted in Redis, and was not; what is late may still be in time.
    if (fault === 'delay') expect(inMemory).toBeGreaterThan(0);
    else expect(inMemory).toBe(writes.length);
  },
);
