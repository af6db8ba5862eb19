import { resetClock, setClock } from '../support/clock';
import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import { several } from '../support/several';
import {
  OwnRedis,
  REFUSAL_CAUSES,
  startService,
  NETWORK_FAULTS,
  TcpProxy,
} from '../support/program';

const WARNING = 'Redis is unavailable: rate limits are counted in memory';
const RECOVERY = 'Redis is available again: rate limits are shared';

/** For all tests except those that begin without it. */
let redis: OwnRedis;
let isKilled = false;
let shared: TestService;
/** The number of lines that were logged before a test. */
let loggedBefore = 0;

beforeAll(async () => {
  redis = await OwnRedis.prepare();
  await redis.start();
  shared = await start(redis.url);
});
beforeEach(async () => {
  await untilCounted(shared);
  loggedBefore = shared.logged.length;
});
afterEach(async () => {
  resetClock();
  redis.resume();
  if (isKilled) await redis.start();
  isKilled = false;
});
afterAll(async () => {
  await shared.close();
  await redis.remove();
});

function start(redisUrl: string): Promise<TestService> {
  return startService({ env: { RATE_LIMIT_PLANTS_CREATE_MAX: '2' }, redisUrl });
}

async function killRedis(): Promise<void> {
  isKilled = true;
  await redis.kill();
}

async function readiness({ anonymous }: TestService): Promise<Record<string, unknown>> {
  return (await anonymous.get('/readyz').expect(200)).body as Record<string, unknown>;
}

function untilShared(running: TestService): Promise<void> {
  return until(async () => (await readiness(running))['rateLimits'] === 'shared');
}

/** Expects one line for each outage of Redis. A busy machine can have more of them than the test
 * caused, with lines in between that Redis is available again.
 */
async function expectOutages(
  count: number,
  { logged } = shared,
  since = loggedBefore,
): Promise<void> {
  const said = (): string[] =>
    logged
      .slice(since)
      .flatMap((line) => [WARNING, RECOVERY].filter((text) => line.includes(text)));
  await until(() => said().length >= 2 * count - 1);
  const outages = Math.ceil(said().length / 2);
  const alternating = Array.from({ length: outages }, () => [RECOVERY, WARNING])
    .flat()
    .slice(1);
  expect(said()).toEqual(alternating);
}

/** Sends reads one after another, which must all succeed. */
async function readOften(user: TestUser, count = 20): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await user.get('/api/plants').expect(200);
}

function usersOf(running: TestService, count: number): Promise<TestUser[]> {
  return several(count, () => running.user());
}

/** Expects limits to work: a new account has its own budget, and no more. */
async function expectLimits(running: TestService): Promise<void> {
  const user = await running.user();
  const statuses: number[] = [];
  for (let sent = 0; sent < 4; sent += 1) {
    statuses.push((await user.post('/api/plants', { name: 'Fern' })).status);
  }
  expect(statuses).toEqual([201, 201, 429, 429]);
}

async function expectInMemory(running: TestService): Promise<void> {
  expect(await readiness(running)).toMatchObject({
    status: 'ready',
    rateLimits: 'in memory',
    warnings: [
      'Redis cannot be reached, or refuses writes; each process counts rate limits by itself.',
    ],
  });
  expect(valueOf(await scrape(running.url), 'plantcare_redis_up')).toBe(0);
}

/** Waits until requests are counted in Redis again. */
async function untilCounted(running: TestService, counting = redis): Promise<void> {
  const user = await running.user();
  const isCounted = async (): Promise<boolean> => {
    await user.get('/api/plants').expect(200);
    return (await counting.keys()).some((key) => key.includes(user.id));
  };
  // A connection without a response is replaced after two seconds, so send enough until then.
  await until(isCounted, 100);
}

test('without Redis at the start, the service counts in memory until Redis is available', async () => {
  const late = await OwnRedis.prepare();
  const running = await start(late.url);
  try {
    const user = await running.user();
    await readOften(user);
    await expectLimits(running);
    await expectInMemory(running);
    await expectOutages(1, running, 0);

    await late.start();
    await untilShared(running);
    expect((await readiness(running))['warnings']).toEqual([]);
    await untilCounted(running, late);
    await expectLimits(running);
  } finally {
    await running.close();
    await late.remove();
  }
});

test('while Redis crashes and restarts, every request gets its response', async () => {
  const user = await shared.user();
  await killRedis();
  await readOften(user);
  await expectLimits(shared);
  await expectInMemory(shared);
  await expectOutages(1);

  await redis.start();
  await untilCounted(shared);

  await killRedis();
  await readOften(await shared.user());
  await expectOutages(2);
});

test('a crash of Redis is logged even without requests', async () => {
  await killRedis();
  await expectOutages(1);
});

test('requests in progress while Redis crashes all get their response', async () => {
  const users = await usersOf(shared, 8);
  const sends = users.map((user) => readOften(user, 10));
  await killRedis();
  await Promise.all(sends);
});

test.each([
  ['', 0],
  [', though the clock was set back meanwhile', 3_600_000],
])('a Redis that hangs is not used until it responds again%s', async (_when, back) => {
  const user = await shared.user();
  redis.pause();
  await readOften(user);
  await expectLimits(shared);
  await expectInMemory(shared);
  await expectOutages(1);

  if (back > 0) setClock(Date.now() - back);
  redis.resume();
  await untilCounted(shared);
  await expectLimits(shared);
});

test('concurrent requests that wait for a hanging Redis get responses while it hangs', async () => {
  const users = await usersOf(shared, 12);
  redis.pause();
  await Promise.all(users.map((user) => readOften(user, 3)));
});

test('each hang of Redis is logged once, with or without probes', async () => {
  for (const outage of [1, 2, 3]) {
    const user = await shared.user();
    redis.pause();
    await readOften(user, 5);
    await expectOutages(outage);
    redis.resume();
    await untilCounted(shared);
  }
});

test('a busy process does not mistake its own delay for an outage of Redis', async () => {
  const user = await shared.user();
  let isBusy = true;
  // Blocks the event loop for longer than Redis may take, between reads of the socket.
  const work = (): void => {
    const end = performance.now() + 160;
    while (performance.now() < end);
    if (isBusy) setImmediate(work);
  };
  setImmediate(work);
  await user.get('/api/plants').expect(200);
  isBusy = false;
  expect(shared.logged.slice(loggedBefore).join()).not.toContain(WARNING);
});

describe.each(REFUSAL_CAUSES)('a Redis that refuses writes (%s)', (cause) => {
  afterEach(() => redis.accept(cause));

  test('is not used until a write works, which is logged once and visible from outside', async () => {
    const user = await shared.user();
    await redis.refuse(cause);
    await readOften(user);
    await expectLimits(shared);
    for (let probes = 0; probes < 3; probes += 1) await expectInMemory(shared);
    await expectOutages(1);
    expect(shared.logged.slice(loggedBefore).join('')).toMatch(
      // Redis 6 and 7 say it differently.
      cause === 'NOPERM' ? /can't run this command|NOPERM/ : cause,
    );

    await redis.accept(cause);
    await untilShared(shared);
    await untilCounted(shared);
    await expectLimits(shared);
    expect(valueOf(await scrape(shared.url), 'plantcare_redis_up')).toBe(1);
  });

  test('shows without requests that count', async () => {
    await redis.refuse(cause);
    await expectInMemory(shared);
    await expectOutages(1);
  });
});

test('after a failover the connection is replaced by one to the new primary', async () => {
  const [old, next] = [await OwnRedis.prepare(), await OwnRedis.prepare()];
  await Promise.all([old.start(), next.start()]);
  const proxy = await TcpProxy.start(old.url);
  const running = await start(`redis://127.0.0.1:${proxy.port}`);
  try {
    await untilCounted(running, old);
    proxy.to = next.url;
    await old.refuse('READONLY');
    await untilCounted(running, next);
    await untilShared(running);
    await expectLimits(running);
  } finally {
    await running.close();
    await proxy.close();
    await Promise.all([old.remove(), next.remove()]);
  }
});

describe('a network fault before Redis', () => {
  let proxy: TcpProxy;
  let running: TestService;
  beforeAll(async () => {
    proxy = await TcpProxy.start(redis.url);
    running = await start(`redis://127.0.0.1:${proxy.port}`);
  });
  beforeEach(() => untilCounted(running));
  afterEach(() => {
    proxy.restore();
  });
  afterAll(async () => {
    await running.close();
    await proxy.close();
  });

  test.each(NETWORK_FAULTS)('of the kind "%s" costs no response', async (fault) => {
    proxy.fail(fault);
    await readOften(await running.user());
    await expectLimits(running);
    proxy.restore();
    await untilCounted(running);
    await untilShared(running);
  });

  test('that loses all responses delays one request a second, not each', async () => {
    const user = await running.user();
    proxy.fail('answers lost');
    await user.get('/api/plants').expect(200);
    const before = await redis.scriptRuns();
    const started = performance.now();
    await readOften(user);
    const seconds = (performance.now() - started) / 1000;
    expect((await redis.scriptRuns()) - before).toBeLessThanOrEqual(seconds + 1);
  });

  test('that drops one connection is survived by a new one', async () => {
    proxy.fail('black hole', { onlyOpen: true });
    await readOften(await running.user());
    await untilCounted(running);
  });
});
