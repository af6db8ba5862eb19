import { randomUUID } from 'node:crypto';

import { Metrics } from '../../src/core/metrics';
import { PROJECT } from '../../src/core/settings/project';
import { resetClock, setClock } from '../support/clock';
import { type Family, scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import { startService } from '../support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_PLANTS_CREATE_MAX: '3' } });
  service.app.metrics.collectProcessFigures();
  user = await service.user();
});
afterAll(() => service.close());

async function value(
  name: string,
  labels?: Record<string, string>,
  of = service,
): Promise<number | undefined> {
  return valueOf(await scrape(of.url), `plantcare_${name}`, labels);
}

/** The increase of a metric during some work. */
async function growthOf(
  name: string,
  labels: Record<string, string>,
  act: () => Promise<unknown>,
): Promise<number> {
  const before = (await value(name, labels)) ?? 0;
  await act();
  return ((await value(name, labels)) ?? 0) - before;
}

function callTool(name: string, args: object) {
  return user.post('/api/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
}

describe('every metric', () => {
  const UNITS = /_(seconds|bytes|total|info|ratio)$/;
  const MISLEADING = /_(milliseconds|ms|minutes|hours|days|kb|mb|kilobytes|megabytes|percent)(_|$)/;
  let families: Map<string, Family>;

  beforeAll(async () => {
    await user.get('/api/plants').expect(200);
    await callTool('list_plants', {}).expect(200);
    families = await scrape(service.url);
  });

  test('has a description and a type', () => {
    const undescribed = [...families.values()].filter(
      ({ help, type }) =>
        !help || !['counter', 'gauge', 'histogram', 'summary'].includes(type ?? ''),
    );
    expect(undescribed.map(({ name }) => name)).toEqual([]);
  });

  test('has the prefix of the program or of its process, and base units', () => {
    const names = [...families.keys()];
    expect(names.filter((name) => !/^(plantcare|process|nodejs)_[a-z0-9_]+$/.test(name))).toEqual(
      [],
    );
    expect(names.filter((name) => MISLEADING.test(name))).toEqual([]);
    const timed = [...families.values()].filter(({ type }) => type === 'histogram');
    const counts = ['plantcare_write_batch_size'];
    expect(
      timed.map(({ name }) => name).filter((name) => !UNITS.test(name) && !counts.includes(name)),
    ).toEqual([]);
  });

  test('ends with _total if and only if it is a counter', () => {
    const wrong = [...families.values()].filter(
      ({ name, type }) => (type === 'counter') !== name.endsWith('_total'),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test('has few values of each label, without personal data', async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text.includes(user.id)).toBe(false);
    const own = [...families.values()].filter(({ name }) => name.startsWith('plantcare_'));
    const labels = new Set(
      own.flatMap(({ samples }) => samples.flatMap((s) => Object.keys(s.labels))),
    );
    const known = [
      'operation',
      'status',
      'code',
      'tool',
      'budget',
      'state',
      'job_name',
      'le',
      'within',
      'outcome',
    ];
    expect(
      [...labels].filter((label) => ![...known, 'version', 'node_version'].includes(label)),
    ).toEqual([]);
  });
});

test('the metrics show the release', async () => {
  const labels = { version: PROJECT.version, node_version: process.versions.node };
  expect(await value('build_info', labels)).toBe(1);
});

test('requests are counted and timed by operation and status', async () => {
  const labels = { operation: 'GET /api/plants/{id}', status: '404' };
  const act = () => user.get(`/api/plants/${randomUUID()}`).expect(404);
  expect(await growthOf('http_request_duration_seconds_count', labels, act)).toBe(1);
  const code = { operation: 'GET /api/plants/{id}', code: 'plant_not_found' };
  expect(await growthOf('http_errors_total', code, act)).toBe(1);
});

test('unknown paths and methods are counted under one label', async () => {
  const labels = { operation: 'none', status: '404' };
  const act = async () => {
    await service.anonymous.get(`/${randomUUID()}`).expect(404);
    await service.anonymous.get(`/${randomUUID()}`).expect(404);
  };
  expect(await growthOf('http_request_duration_seconds_count', labels, act)).toBe(2);
});

test('tool calls are counted by tool and outcome', async () => {
  const good = () => callTool('list_locations', {}).expect(200);
  expect(await growthOf('tool_calls_total', { tool: 'list_locations', code: 'ok' }, good)).toBe(1);
  const timed = 'tool_call_duration_seconds_count';
  expect(await growthOf(timed, { tool: 'list_locations' }, good)).toBe(1);
  const wrong = () => callTool('create_plant', { nonsense: 1 }).expect(200);
  const refused = { tool: 'create_plant', code: 'validation_error' };
  expect(await growthOf('tool_calls_total', refused, wrong)).toBe(1);
});

test('refusals are counted by budget', async () => {
  const eager = await service.user();
  for (let count = 0; count < 3; count += 1) await eager.plant();
  const act = () => eager.post('/api/plants', { name: 'x' }).expect(429);
  expect(await growthOf('rate_limited_total', { budget: 'plants' }, act)).toBe(1);
  expect(await value('rate_limited_total', { budget: 'auth-failures' })).toBe(0);
});

test('a retry that gets the stored response is counted', async () => {
  const again = await service.user();
  const act = async () => {
    for (let count = 0; count < 3; count += 1) {
      await again.post('/api/plants', { name: 'x' }).set('Idempotency-Key', 'once').expect(201);
    }
  };
  expect(await growthOf('idempotent_replays_total', {}, act)).toBe(2);
});

test('the response cache counts hits, misses and memory', async () => {
  const reader = await service.user();
  const read = () => reader.get('/api/locations').expect(200);
  // Responses are not used before the moment at which they were made.
  setClock(Date.now());
  try {
    expect(await growthOf('answer_cache_misses_total', {}, read)).toBe(1);
    expect(await growthOf('answer_cache_hits_total', {}, read)).toBe(1);
  } finally {
    resetClock();
  }
  expect(await value('answer_cache_bytes')).toBeGreaterThan(0);
});

test('writes are counted by the size of their transaction', async () => {
  const { id } = await (await service.user()).plant();
  expect(id).toBeDefined();
  const writer = await service.user();
  const plant = await writer.plant();
  const sends = async () => {
    await Promise.all(Array.from({ length: 20 }, () => writer.event(plant.id)));
  };
  expect(await growthOf('write_batch_size_sum', {}, sends)).toBe(20);
  expect(await value('write_batch_size_count')).toBeGreaterThan(0);
  expect(await value('write_queue_depth')).toBe(0);
  expect(await value('write_retries_total')).toBeGreaterThanOrEqual(0);
});

test('the metrics show the states of MongoDB, Redis and the connection pool', async () => {
  await until(async () => (await value('redis_up')) === 1);
  expect(await value('mongodb_up')).toBe(1);
  expect(await value('mongodb_connections', { state: 'open' })).toBeGreaterThan(0);
  expect(await value('mongodb_connections', { state: 'in_use' })).toBeGreaterThanOrEqual(0);
  expect(await value('mongodb_connection_waiters')).toBe(0);
});

test('calls that are counted in memory without Redis are measured', async () => {
  const alone = await startService({ redisUrl: null });
  try {
    await (await alone.user()).get('/api/plants').expect(200);
    expect(await value('rate_limit_fallbacks_total', {}, alone)).toBeGreaterThan(0);
  } finally {
    await alone.close();
  }
});

test('the metrics show when jobs last succeeded, and how many tokens expire soon', async () => {
  const other = await startService({ jobs: false });
  try {
    const day = 24 * 60 * 60;
    for (const days of [2, 20, 200]) await other.user({ expiresInSeconds: days * day });
    expect(await value('tokens_expiring', {}, other)).toBeUndefined();
    const started = Date.now() / 1000;
    other.app.startJobs();
    await until(async () => (await value('tokens_expiring', {}, other)) !== undefined);
    expect(await value('tokens_expiring', { within: '7d' }, other)).toBe(1);
    expect(await value('tokens_expiring', { within: '30d' }, other)).toBe(2);
    const job = { job_name: 'count of expiring tokens' };
    await until(
      async () =>
        ((await value('job_last_success_timestamp_seconds', job, other)) ?? 0) > started - 1,
    );
  } finally {
    await other.close();
  }
});

test('concurrent scrapes share one reading, and later ones get a new one', async () => {
  const metrics = new Metrics();
  let readings = 0;
  metrics.reading({ name: 'readings', help: 'How often it was read', read: () => (readings += 1) });
  const together = await Promise.all(Array.from({ length: 20 }, () => metrics.text()));
  expect(new Set(together)).toEqual(new Set([together[0]]));
  expect(together[0]).toContain('plantcare_readings 1');
  expect(await metrics.text()).toContain('plantcare_readings 2');
});

test('metrics that are scraped constantly are written with pauses', async () => {
  const metrics = new Metrics();
  let readings = 0;
  const readSlowly = (): number => {
    const end = performance.now() + 5;
    while (performance.now() < end);
    return (readings += 1);
  };
  metrics.reading({ name: 'readings', help: 'How often it was read', read: readSlowly });
  const end = performance.now() + 500;
  while (performance.now() < end) await metrics.text();
  // At most once in 50 ms, and once more at either end.
  expect(readings).toBeLessThanOrEqual(12);
});

test('METRICS_TOKEN is required, and no other token is accepted', async () => {
  const token = 'a-long-enough-token';
  const guarded = await startService({ env: { METRICS_TOKEN: token } });
  try {
    const ask = (header: string) => guarded.anonymous.get('/metrics').set('Authorization', header);
    const bare = await guarded.anonymous.get('/metrics').expect(401);
    expect(bare.get('WWW-Authenticate')).toBe('Bearer');
    expect(bare.body).toMatchObject({ code: 'unauthorized' });
    await ask(`Bearer ${token}x`).expect(401);
    await ask(`Basic ${token}`).expect(401);
    await guarded.anonymous.get(`/metrics?token=${token}`).expect(401);
    const { text } = await ask(`Bearer ${token}`).expect(200);
    expect(text).toMatch(/^plantcare_build_info/m);
    expect(guarded.logged.join('').includes(token)).toBe(false);
  } finally {
    await guarded.close();
  }
});
