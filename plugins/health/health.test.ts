import type { TestService } from '../../test/support/service';
import { anyId, expectError } from '../../test/support/shapes';
import { startService } from '../../test/support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test.each(['/healthz', '/readyz', '/metrics'])(
  '%s needs no token and ignores an invalid one',
  async (path) => {
    await service.anonymous.get(path).expect(200);
    await service.anonymous.get(path).set('Authorization', 'Bearer nonsense').expect(200);
  },
);

test.each(['/healthz', '/readyz', '/metrics'])('%s has a request id', async (path) => {
  const response = await service.anonymous.get(path).expect(200);
  expect(response.headers['x-request-id']).toEqual(anyId);
});

test('/healthz says that the process is alive', async () => {
  const response = await service.anonymous.get('/healthz').expect(200);
  expect(response.body).toEqual({ status: 'ok' });
});

test('the service is ready if MongoDB and Redis respond', async () => {
  const response = await service.anonymous.get('/readyz').expect(200);
  expect(response.body).toEqual({
    status: 'ready',
    mongodb: 'ok',
    rateLimits: 'shared',
    warnings: [],
  });
});

test('without Redis the service is ready and warns', async () => {
  const alone = await startService({ redisUrl: null });
  try {
    const response = await alone.anonymous.get('/readyz').expect(200);
    expect(response.body).toEqual({
      status: 'ready',
      mongodb: 'ok',
      rateLimits: 'in memory',
      warnings: [expect.stringMatching(/Redis/) as string],
    });
  } finally {
    await alone.close();
  }
});

test('a proxy that TRUST_PROXY does not cover is reported: once in the log, in /readyz and by a metric', async () => {
  const behind = await startService({ redisUrl: null });
  const count = async () =>
    /^plantcare_http_unheeded_proxy_requests_total (\d+)$/m.exec(
      (await behind.anonymous.get('/metrics').expect(200)).text,
    )?.[1];
  try {
    expect(await count()).toBe('0');
    for (const client of ['203.0.113.9', '203.0.113.9, 198.51.100.7']) {
      await behind.anonymous.get('/api/plants').set('X-Forwarded-For', client).expect(401);
    }
    expect(await count()).toBe('2');
    const ready = await behind.anonymous.get('/readyz').expect(200);
    expect(ready.body).toMatchObject({
      warnings: [expect.stringMatching(/Redis/), expect.stringMatching(/TRUST_PROXY is 0/)],
    });
    expect(behind.logged.filter((line) => line.includes('TRUST_PROXY is 0'))).toHaveLength(1);
  } finally {
    await behind.close();
  }
});

test('X-Forwarded-For from a trusted proxy causes no warning', async () => {
  const behind = await startService({ env: { TRUST_PROXY: '1' } });
  try {
    await behind.anonymous.get('/healthz').set('X-Forwarded-For', '203.0.113.9').expect(200);
    expect((await behind.anonymous.get('/readyz').expect(200)).body).toMatchObject({
      warnings: [],
    });
  } finally {
    await behind.close();
  }
});

test('a service that is stopping is alive but not ready, with the reason and Retry-After', async () => {
  const stopping = await startService({});
  try {
    stopping.app.beginClosing();
    const response = await stopping.anonymous.get('/readyz');
    expectError(response, 503, 'service_unavailable', /stopping/);
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    await stopping.anonymous.get('/healthz').expect(200);
  } finally {
    await stopping.close();
  }
});

test('a service that cannot reach MongoDB is alive but not ready, with the reason and Retry-After', async () => {
  const cut = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    await cut.app.database.close();
    const response = await cut.anonymous.get('/readyz');
    expectError(response, 503, 'service_unavailable', /MongoDB/);
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    await cut.anonymous.get('/healthz').expect(200);
    await cut.anonymous.get('/metrics').expect(200);
  } finally {
    await cut.close();
  }
});

test('the metrics count requests by operation, never by the contents of paths', async () => {
  const user = await service.user();
  const plant = await user.plant();
  await user.get(`/api/plants/${plant.id}`).expect(200);
  await service.anonymous.get('/nowhere/my-secret?q=my-secret').expect(404);
  const response = await service.anonymous.get('/metrics').expect(200);
  expect(response.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(response.text).toMatch(
    /^plantcare_http_request_duration_seconds_count\{operation="GET \/api\/plants\/\{id\}",status="200"\} \d+$/m,
  );
  expect(response.text).not.toContain(plant.id);
  expect(response.text).not.toContain(user.id);
  expect(response.text).not.toContain('my-secret');
});

test.each(['/healthz', '/readyz', '/metrics'])('%s takes GET only', async (path) => {
  const head = await service.anonymous.head(path).expect(200);
  expect(head.text).toBeFalsy();
  for (const method of ['post', 'put', 'patch', 'delete'] as const) {
    expectError(await service.anonymous[method](path), 405, 'method_not_allowed');
  }
});
