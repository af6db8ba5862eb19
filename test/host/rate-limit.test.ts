import { randomInt, randomUUID } from 'node:crypto';

import type { Response } from 'supertest';

import { makeToken } from '../../plugins/accounts/tokens/token';
import { record } from '../support/client';
import { resetClock, setClock } from '../support/clock';
import { until } from '../support/processes';
import { queriesOf } from '../support/profiler';
import type { ServiceOptions, TestService } from '../support/service';
import { errorOf } from '../support/raw';
import { accountsPlugin, startService, userOf } from '../support/program';

const TIGHT = {
  RATE_LIMIT_PLANTS_CREATE_MAX: '3',
  RATE_LIMIT_WRITES_MAX: '5',
  RATE_LIMIT_READS_MAX: '8',
  RATE_LIMIT_AUTH_FAILURES_MAX: '4',
  TRUST_PROXY: '1',
};

let one: TestService;
let two: TestService;

beforeAll(async () => {
  // Jobs query accounts, too.
  one = await startService({ env: TIGHT, jobs: false });
  two = await startService({ env: TIGHT, mongodbUri: one.mongodbUri, jobs: false });
  // Until Redis is connected, each process counts for itself.
  for (const service of [one, two]) {
    const isShared = async () =>
      record((await service.anonymous.get('/readyz')).body)['rateLimits'] === 'shared';
    await until(isShared);
  }
});
afterAll(async () => {
  await two.close();
  await one.close();
});

const own: TestService[] = [];

/** Runs a test with a service of its own, which is always closed. */
async function startOwn(options: ServiceOptions): Promise<TestService> {
  const service = await startService(options);
  own.push(service);
  return service;
}
afterEach(async () => {
  for (const service of own.splice(0)) await service.close();
});

/** A unique address, so that nothing else counts against it. */
function anAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}

/** Sends a new token that has the form of a valid one. */
function guess(service: TestService, address: string, token = makeToken()) {
  return service.anonymous
    .get('/api/plants')
    .set('Authorization', `Bearer ${token}`)
    .set('X-Forwarded-For', address);
}

function header(answer: Response, name: string): string {
  return answer.get(name) ?? '';
}

/** The remaining budget in the headers, which must agree. */
function leftOf(answer: Response, name: string, max: number): number {
  expect(header(answer, 'RateLimit-Policy')).toBe(`"${name}";q=${max};w=60`);
  const [, budget, left, seconds] =
    /^"([\w-]+)";r=(\d+);t=(\d+)$/.exec(header(answer, 'RateLimit')) ?? [];
  expect(budget).toBe(name);
  expect(header(answer, 'X-RateLimit-Limit')).toBe(String(max));
  expect(header(answer, 'X-RateLimit-Remaining')).toBe(left);
  expect(Number(seconds)).toBeGreaterThanOrEqual(1);
  expect(Number(seconds)).toBeLessThanOrEqual(60);
  expect(header(answer, 'X-RateLimit-Reset')).toMatch(/^\d{10}$/);
  return Number(left);
}

function expectLimited(answer: Response, name: string, max: number): void {
  expect(answer.status).toBe(429);
  expect(errorOf({ body: answer.text }).code).toBe('rate_limited');
  expect(leftOf(answer, name, max)).toBe(0);
  expect(header(answer, 'Retry-After')).toMatch(/^\d+$/);
  expect(header(answer, 'RateLimit')).toBe(`"${name}";r=0;t=${header(answer, 'Retry-After')}`);
}

test('each response shows what is left of its budget, and a spent one gets 429', async () => {
  const user = await one.user();
  for (const left of [2, 1, 0]) {
    const answer = await user.post('/api/plants', { name: 'Fern' }).expect(201);
    expect(leftOf(answer, 'plants', 3)).toBe(left);
    expect(answer.headers).not.toHaveProperty('retry-after');
  }
  expectLimited(await user.post('/api/plants', { name: 'Fern' }), 'plants', 3);
  expect((await user.get('/api/plants').expect(200)).body).toHaveLength(3);
});

test.each([
  ['ahead', 3_600_000],
  ['back', -3_600_000],
])('setting the clock %s by an hour does not affect budgets', async (_way, by) => {
  const service = await startOwn({ env: TIGHT, jobs: false });
  const user = await service.user({ expiresInSeconds: 2 * 3600 });
  await user.get('/api/plants').expect(200);
  const now = Date.now() + by;
  setClock(now);
  try {
    const address = anAddress();
    for (let count = 0; count < 4; count += 1) await guess(service, address).expect(401);
    const queries = await queriesOf(service, async () => {
      for (let count = 0; count < 5; count += 1) {
        const answer = await guess(service, address).expect(429);
        expect(Number(header(answer, 'Retry-After'))).toBeGreaterThanOrEqual(1);
      }
    });
    expect(queries.filter(({ collection }) => collection === 'tokens')).toEqual([]);
    const answer = await user.get('/api/plants').expect(200);
    const [, left] = /;t=(\d+)$/.exec(header(answer, 'RateLimit')) ?? [];
    expect(Number(left)).toBeLessThanOrEqual(60);
    // The clock stands still, and both are whole seconds.
    const reset = Number(header(answer, 'X-RateLimit-Reset'));
    expect([-1, 0, 1]).toContain(reset - Math.floor(now / 1000) - Number(left));
  } finally {
    resetClock();
  }
});

test('new plants, other writes and reads have budgets of their own', async () => {
  const user = await one.user();
  const plant = await user.plant();
  await user.plant();
  await user.plant();
  expectLimited(await user.post('/api/plants', { name: 'Fern' }), 'plants', 3);
  for (let left = 4; left >= 0; left -= 1) {
    const answer = await user.post(`/api/plants/${plant.id}/events`).expect(201);
    expect(leftOf(answer, 'writes', 5)).toBe(left);
  }
  expectLimited(await user.delete(`/api/plants/${plant.id}`), 'writes', 5);
  expectLimited(await user.post('/api/photos', {}), 'writes', 5);
  for (let left = 7; left >= 0; left -= 1) {
    expect(leftOf(await user.get('/api/plants').expect(200), 'reads', 8)).toBe(left);
  }
  expectLimited(await user.get('/api/insights'), 'reads', 8);
});

test('responses over the budget are delayed', async () => {
  const user = await one.user();
  for (let left = 8; left > 0; left -= 1) await user.get('/api/plants').expect(200);
  const started = performance.now();
  for (let call = 0; call < 3; call += 1) expectLimited(await user.get('/api/plants'), 'reads', 8);
  expect(performance.now() - started).toBeGreaterThan(3 * 190);
});

test('refusals also have the rate limit headers', async () => {
  const user = await one.user();
  const reader = await one.user({ id: user.id, scopes: ['plants:read'] });
  const plant = randomUUID();
  expect(leftOf(await user.post('/api/plants', {}).expect(400), 'plants', 3)).toBe(2);
  expect(leftOf(await reader.post('/api/plants', {}).expect(403), 'plants', 3)).toBe(1);
  expect(leftOf(await user.get(`/api/plants/${plant}`).expect(404), 'reads', 8)).toBe(7);
  expect(leftOf(await user.get('/api/plants?a=1').expect(400), 'reads', 8)).toBe(6);
});

test('the tokens of one account share its budgets, and other accounts do not', async () => {
  const ada = await one.user();
  const adaToo = await one.user({ id: ada.id });
  const bob = await one.user();
  expect(leftOf(await ada.post('/api/plants', { name: 'Fern' }), 'plants', 3)).toBe(2);
  expect(leftOf(await adaToo.post('/api/plants', { name: 'Fern' }), 'plants', 3)).toBe(1);
  expect(leftOf(await bob.post('/api/plants', { name: 'Fern' }), 'plants', 3)).toBe(2);
});

/** Repeats `work` if Redis was too slow on a busy machine: each process then correctly counts for
 * itself, so the test cannot observe shared budgets.
 */
async function whileShared(work: () => Promise<void>): Promise<void> {
  const warnings = () =>
    [one, two].flatMap(({ logged }) => logged).filter((line) => line.includes('in memory')).length;
  for (let attempt = 1; ; attempt += 1) {
    const before = warnings();
    try {
      await work();
      return;
    } catch (error) {
      if (warnings() === before || attempt === 5) throw error;
    }
  }
}

test('two processes share the budgets of an account', () =>
  whileShared(async () => {
    const user = await one.user();
    const elsewhere = userOf(two.url, user.id, user.token);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        (index % 2 === 0 ? user : elsewhere).get('/api/plants').then((answer) => answer),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(8);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(16);
    for (const answer of limited) expectLimited(answer, 'reads', 8);
  }));

test('public endpoints and unknown paths spend nothing', async () => {
  const user = await one.user();
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing']) {
    const answer = await user.get(path);
    for (const name of ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit']) {
      expect(answer.headers).not.toHaveProperty(name);
    }
  }
});

describe('failed authentications', () => {
  const wrong = (service: TestService, address: string) => guess(service, address, 'tnd_mcp_wrong');

  test('are limited per client address, across all processes', () =>
    whileShared(async () => {
      const address = anAddress();
      for (const [left, service] of [
        [3, one],
        [2, two],
        [1, one],
        [0, two],
      ] as const) {
        const answer = await wrong(service, address).expect(401);
        expect(leftOf(answer, 'auth-failures', 4)).toBe(left);
      }
      expectLimited(await wrong(one, address), 'auth-failures', 4);
      expectLimited(await wrong(two, address), 'auth-failures', 4);
      await wrong(one, anAddress()).expect(401);
    }));

  test('do not affect tokens that the process has already verified', async () => {
    const user = await one.user();
    await user.get('/api/plants').expect(200);
    const address = anAddress();
    for (let count = 0; count < 6; count += 1) await wrong(one, address);
    await user.get('/api/plants').set('X-Forwarded-For', address).expect(200);
  });

  test('count for the address from the trusted proxy, not one that the client claims', async () => {
    const address = anAddress();
    for (let left = 3; left >= 0; left -= 1) {
      const answer = await wrong(one, `${anAddress()}, ${address}`).expect(401);
      expect(leftOf(answer, 'auth-failures', 4)).toBe(left);
    }
    expectLimited(await wrong(one, address), 'auth-failures', 4);
  });

  test('include requests without a token', async () => {
    const address = anAddress();
    const without = () => one.anonymous.get('/api/plants').set('X-Forwarded-For', address);
    for (let left = 3; left >= 0; left -= 1) {
      const answer = await without().expect(401);
      expect(leftOf(answer, 'auth-failures', 4)).toBe(left);
    }
    expectLimited(await without(), 'auth-failures', 4);
  });

  test('count for the whole /64 of an IPv6 address, however it is written', async () => {
    const net = `2001:db8:${randomInt(0x1000, 0xffff).toString(16)}`;
    await wrong(one, `${net}:7:1:2:3:4`).expect(401);
    await wrong(one, `${net}:7::1`).expect(401);
    await wrong(one, `${net.toUpperCase()}:0007:0:0:0:2`).expect(401);
    await wrong(one, `${net}:7:ffff::`).expect(401);
    expectLimited(await wrong(one, `${net}:7::9`), 'auth-failures', 4);
    await wrong(one, `${net}:8::9`).expect(401);
  });

  test('cause no queries once the budget is spent', async () => {
    const address = anAddress();
    for (let count = 0; count < 4; count += 1) await wrong(one, address).expect(401);
    const queries = await queriesOf(one, async () => {
      for (let count = 0; count < 10; count += 1)
        expectLimited(await guess(one, address), 'auth-failures', 4);
    });
    const ofAuthentication = ['tokens', 'accounts'];
    expect(queries.filter(({ collection }) => ofAuthentication.includes(collection))).toEqual([]);
  });

  test('do not hide that a token was revoked', async () => {
    const user = await one.user();
    const address = anAddress();
    const get = () => user.get('/api/plants').set('X-Forwarded-For', address);
    await get().expect(200);
    for (let count = 0; count < 4; count += 1) await wrong(one, address);
    await get().expect(200);
    const accounts = one.app.exportsOf(accountsPlugin);
    const [token] = await accounts.tokens.tokens(user.id);
    await accounts.tokens.revokeToken(token?.id ?? '');
    await get().expect(429);
  });

  test('count for the address of the connection without a trusted proxy', async () => {
    const env = { RATE_LIMIT_AUTH_FAILURES_MAX: '2', TRUST_PROXY: 'false' };
    const service = await startOwn({ env, redisUrl: null });
    await wrong(service, anAddress()).expect(401);
    await wrong(service, anAddress()).expect(401);
    await wrong(service, anAddress()).expect(429);
  });
});

test('the default budgets are those of docs/api.md, "Rate limits"', async () => {
  const unset = Object.fromEntries(Object.keys(TIGHT).map((name) => [name, '']));
  const service = await startOwn({ env: unset, redisUrl: null });
  const user = await service.user();
  const made = await user.post('/api/plants', { name: 'Fern' }).expect(201);
  expect(leftOf(made, 'plants', 60)).toBe(59);
  const logged = await user.post(`/api/plants/${(made.body as { id: string }).id}/events`);
  expect(leftOf(logged, 'writes', 300)).toBe(299);
  expect(leftOf(await user.get('/api/plants'), 'reads', 1200)).toBe(1199);
  const failed = await service.anonymous.get('/api/plants').set('Authorization', 'Bearer x');
  expect(leftOf(failed, 'auth-failures', 60)).toBe(59);
});

test('without Redis, each process counts in memory by the same rules', async () => {
  const service = await startOwn({ env: TIGHT, redisUrl: null });
  const user = await service.user();
  for (const left of [2, 1, 0]) {
    const answer = await user.post('/api/plants', { name: 'Fern' }).expect(201);
    expect(leftOf(answer, 'plants', 3)).toBe(left);
  }
  expectLimited(await user.post('/api/plants', { name: 'Fern' }), 'plants', 3);
});
