import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import { type Garden, gardenFor, send, type Write, writes } from './kinds-of-write';
import { startService, NETWORK_FAULTS, TcpProxy } from '../support/program';

/** A write and its user. */
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
/** The writes that can be repeated; creating their gardens takes eight times as many requests. */
let lasting: Case[];

beforeAll(async () => {
  proxy = await TcpProxy.start(process.env['TEST_REDIS_URL'] ?? '');
  service = await startService({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
  // With a key they would be replayed.
  lasting = (await casesOf(repeated)).map(({ garden, write: { operation, ...write } }) => ({
    garden,
    write: { ...write, operation: { ...operation, idempotent: false } },
  }));
});
afterEach(() => {
  proxy.restore();
});
afterAll(async () => {
  // A client that is connecting keeps the process alive for a while after it was closed.
  await untilShared();
  await service.close();
  await proxy.close();
});

/** Whether a write can be repeated. */
function isRepeatable({ operation: { method, path } }: Write): boolean {
  return method !== 'DELETE' && !/\/(?:delete|restore)$/.test(path);
}

function casesOf(some: readonly Write[]): Promise<Case[]> {
  return Promise.all(
    some.map(async (write) => ({ write, garden: await gardenFor(service, write) })),
  );
}

/** The number of calls counted in memory so far. */
async function fallbacks(): Promise<number> {
  return valueOf(await scrape(service.url), 'plantcare_rate_limit_fallbacks_total') ?? 0;
}

/** Waits until calls are counted in Redis again. */
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
  // A connection without a response is replaced after two seconds, so send enough until then.
  await until(isShared, 250);
}

test.each(NETWORK_FAULTS)(
  'with %s on the way to Redis, every kind of write gets its response',
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
    // Each should have been counted in Redis, but was not; a delayed one may still have been in time.
    if (fault === 'delay') expect(inMemory).toBeGreaterThan(0);
    else expect(inMemory).toBe(writes.length);
  },
);
