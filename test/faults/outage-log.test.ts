import { scrape, valueOf } from '../support/metrics';
import type { ProxiedService } from '../support/proxied-service';
import { until, OwnRedis, startProxiedService, startService, TcpProxy } from '../support/program';

const READ = 'GET /api/plants/{id}';

describe('an outage of MongoDB', () => {
  let proxied: ProxiedService;
  /** The number of lines that were logged before a test. */
  let before = 0;
  beforeAll(async () => {
    proxied = await startProxiedService();
  });
  beforeEach(() => {
    before = proxied.service.logged.length;
  });
  afterEach(async () => {
    const { service, proxy } = proxied;
    proxy.restore();
    await until(async () => (await fetch(`${service.url}/readyz`)).status === 200);
  });
  afterAll(() => proxied.close());

  test.each(['black hole', 'cut'] as const)(
    'with the fault "%s" is logged once when it begins and ends, without stack traces of requests',
    async (fault) => {
      const { service, proxy } = proxied;
      const user = await service.user();
      await user.get('/api/plants').expect(200);
      proxy.fail(fault);
      for (let count = 0; count < 40; count += 1) {
        const request =
          count % 2 ? user.get('/api/plants') : user.post('/api/plants', { name: 'x' });
        await request.set('X-Request-Id', `away-${count}`).expect(503);
      }
      proxy.restore();
      await until(async () => (await user.get('/api/plants')).status === 200);
      const lines = service.logged
        .slice(before)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ level }) => level !== 'debug');
      const said = lines.map(({ msg }) => msg).filter((msg) => msg !== 'request');
      expect(said.filter((msg) => String(msg).startsWith('MongoDB'))).toEqual([
        'MongoDB does not respond',
        'MongoDB responds again',
      ]);
      expect(lines.filter((line) => 'err' in line)).toEqual([]);
      const away = lines.filter(({ requestId }) => String(requestId).startsWith('away-'));
      expect(away).toHaveLength(40);
      for (const line of away) {
        expect(line).toMatchObject({ status: 503, code: 'service_unavailable' });
        expect(line['reason']).toMatch(/\w/);
      }
    },
  );

  test('is noticed without requests', async () => {
    const { service, proxy } = proxied;
    const said = () => service.logged.slice(before).join('');
    proxy.fail('cut');
    await until(() => said().includes('MongoDB does not respond'));
    proxy.restore();
    await until(() => said().includes('MongoDB responds again'));
  });

  test('in which it hangs does not block /readyz', async () => {
    const { service, proxy } = proxied;
    proxy.fail('black hole');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  });
});

test('a request whose client disconnects is logged, and is no error of the service', async () => {
  const proxied = await startProxiedService();
  const { service, proxy } = proxied;
  try {
    const user = await service.user();
    const { id } = await user.plant();
    proxy.onCommand(({ collection }) => (collection === 'plants' ? 'black hole' : undefined));
    const headers = { authorization: `Bearer ${user.token}`, 'x-request-id': 'impatient' };
    const signal = AbortSignal.timeout(300);
    const asked = fetch(`${service.url}/api/plants/${id}`, { headers, signal });
    await expect(asked).rejects.toThrow('timeout');
    proxy.restore();
    const lines = () =>
      service.logged
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ requestId, msg }) => requestId === 'impatient' && msg === 'request');
    await until(() => lines().length > 0);
    const seen = { aborted: true, bytes: 0, operation: READ };
    expect(lines()).toEqual([expect.objectContaining(seen)]);
    const metrics = await scrape(service.url);
    const counted = (status: string) =>
      valueOf(metrics, 'plantcare_http_request_duration_seconds_count', {
        operation: READ,
        status,
      });
    expect([counted('499'), counted('503')]).toEqual([1, undefined]);
  } finally {
    await proxied.close();
  }
});

test('a Redis that hangs does not block /readyz', async () => {
  const redis = await OwnRedis.prepare();
  await redis.start();
  const proxy = await TcpProxy.start(redis.url);
  const service = await startService({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
  try {
    proxy.fail('black hole');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  } finally {
    await service.close();
    await proxy.close();
    await redis.remove();
  }
});
