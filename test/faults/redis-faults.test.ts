import { resetClock, setClock } from '../support/clock';
import { eventually, OwnRedis } from '../support/own-redis';
import { startService, type TestService, type TestUser } from '../support/service';
import { NETWORK_FAULTS, TcpProxy } from '../support/tcp-proxy';

const WARNING = 'Redis cannot be reached: rate limits go on in memory';
const RECOVERY = 'Redis answers again: rate limits are shared';

let redis: OwnRedis;
let service: TestService | undefined;

beforeEach(async () => {
  redis = await OwnRedis.prepare();
});
afterEach(async () => {
  resetClock();
  redis.resume();
  await service?.close();
  service = undefined;
  await redis.remove();
});

async function start(redisUrl = redis.url): Promise<TestService> {
  const env = { RATE_LIMIT_PLANTS_CREATE_MAX: '2' };
  service = await startService({ env, redisUrl });
  return service;
}

async function readiness({ anonymous }: TestService): Promise<Record<string, unknown>> {
  return (await anonymous.get('/readyz').expect(200)).body as Record<string, unknown>;
}

function untilShared(running: TestService): Promise<void> {
  return eventually(async () => (await readiness(running))['rateLimits'] === 'shared');
}

/**
 * Redis is away, and the log says so once for each outage. A busy machine can have more of them
 * than the test made, but then says in between that Redis came back.
 */
async function expectOutages({ logged }: TestService, count: number): Promise<void> {
  const said = (): string[] =>
    logged.flatMap((line) => [WARNING, RECOVERY].filter((text) => line.includes(text)));
  await eventually(() => said().length >= 2 * count - 1);
  const outages = Math.ceil(said().length / 2);
  const alternating = Array.from({ length: outages }, () => [RECOVERY, WARNING])
    .flat()
    .slice(1);
  expect(said()).toEqual(alternating);
}

/** Sends reads one after the other; answers how long each took, in milliseconds, from the shortest. */
async function timesOf(user: TestUser, count = 20): Promise<number[]> {
  const times: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const started = performance.now();
    await user.get('/api/plants').expect(200);
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b);
}

function usersOf(running: TestService, count: number): Promise<TestUser[]> {
  return Promise.all(Array.from({ length: count }, () => running.user()));
}

/** The longest that any of several users waited, who read at the same time. */
async function longestOf(users: readonly TestUser[]): Promise<number> {
  const times = await Promise.all(users.map((user) => timesOf(user, 3)));
  return Math.max(...times.flat());
}

/** Requests go on: none fails, none hangs, most notice nothing. */
async function expectService(user: TestUser): Promise<void> {
  const times = await timesOf(user);
  // Generous for a busy machine; without its fallback a request would hang for seconds.
  expect(times[10]).toBeLessThan(1000);
  expect(times.at(-1)).toBeLessThan(3000);
}

/** Limits are still there: a fresh account has its own budget, and no more than that. */
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
    warnings: ['Redis cannot be reached: each process counts rate limits for itself.'],
  });
}

/** Waits until requests are counted in Redis. */
function untilCounted(running: TestService): Promise<void> {
  return eventually(async () => {
    const user = await running.user();
    await user.get('/api/plants').expect(200);
    return (await redis.keys()).some((key) => key.includes(user.id));
  });
}

test('a Redis that is not there at start is done without until it comes', async () => {
  const running = await start();
  const user = await running.user();
  await expectService(user);
  await expectLimits(running);
  await expectInMemory(running);
  await expectOutages(running, 1);

  await redis.start();
  await untilShared(running);
  expect((await readiness(running))['warnings']).toEqual([]);
  await untilCounted(running);
  await expectLimits(running);
});

test('while Redis dies and comes back, every request is answered', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  const user = await running.user();

  await redis.kill();
  await expectService(user);
  await expectLimits(running);
  await expectInMemory(running);
  await expectOutages(running, 1);

  await redis.start();
  await untilCounted(running);

  await redis.kill();
  await expectService(await running.user());
  await expectOutages(running, 2);
});

test('that Redis died is logged though nobody calls', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  await redis.kill();
  await expectOutages(running, 1);
});

test('requests that are under way while Redis dies are all answered', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  const users = await usersOf(running, 8);
  const sends = users.map((user) => timesOf(user, 10));
  await redis.kill();
  await Promise.all(sends);
});

test.each([
  ['', 0],
  [', though the clock was set back meanwhile', 3_600_000],
])('a Redis that hangs is left alone, and used again when it answers%s', async (_when, back) => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  const user = await running.user();

  redis.pause();
  await expectService(user);
  await expectLimits(running);
  await expectInMemory(running);
  await expectOutages(running, 1);

  if (back > 0) setClock(Date.now() - back);
  redis.resume();
  await untilCounted(running);
  await expectLimits(running);
});

test('requests that wait for a hanging Redis at once all wait for it only shortly', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  const without = await startService({ redisUrl: null });
  try {
    const [users, others] = await Promise.all([usersOf(running, 20), usersOf(without, 20)]);
    redis.pause();
    // Side by side, so that whatever else keeps the machine busy holds both up.
    const [longest, unhindered] = await Promise.all([longestOf(users), longestOf(others)]);
    // One wait of its own, and none that adds up with those of the others.
    expect(longest - unhindered).toBeLessThan(1000);
  } finally {
    await without.close();
  }
});

test('each time that Redis hangs one line is logged, whether or not /readyz is asked', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  for (const outage of [1, 2, 3]) {
    const user = await running.user();
    redis.pause();
    await timesOf(user, 5);
    await expectOutages(running, outage);
    redis.resume();
    await untilCounted(running);
  }
});

test('a process that has much else to do does not take Redis for gone', async () => {
  await redis.start();
  const running = await start();
  await untilCounted(running);
  const user = await running.user();
  const busy = setInterval(() => {
    const end = performance.now() + 200;
    while (performance.now() < end);
  }, 2);
  for (let sent = 0; sent < 3; sent += 1) await user.get('/api/plants').expect(200);
  clearInterval(busy);
  expect(running.logged.join()).not.toContain(WARNING);
});

describe('a network before Redis', () => {
  let proxy: TcpProxy;
  beforeEach(async () => {
    proxy = await TcpProxy.start(redis.url);
    await redis.start();
  });
  afterEach(async () => {
    proxy.restore();
    await service?.close();
    service = undefined;
    await proxy.close();
  });

  test.each(NETWORK_FAULTS)('with the fault "%s" costs nobody an answer', async (fault) => {
    const running = await start(`redis://127.0.0.1:${proxy.port}`);
    await untilCounted(running);
    proxy.fail(fault);
    await expectService(await running.user());
    await expectLimits(running);
    proxy.restore();
    await untilCounted(running);
    await untilShared(running);
  });

  test('that has forgotten a connection is passed on a new one', async () => {
    const running = await start(`redis://127.0.0.1:${proxy.port}`);
    await untilCounted(running);
    proxy.fail('black hole', { onlyOpen: true });
    await expectService(await running.user());
    await untilCounted(running);
  });
});
