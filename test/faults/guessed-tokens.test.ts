import { makeToken } from '../../plugins/accounts/tokens/token';
import { record } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { median } from '../support/statistics';
import { until, OwnRedis, startService } from '../support/program';

test('a guessed token causes one Redis script, and none once the budget of its address is spent', async () => {
  const redis = await OwnRedis.prepare();
  await redis.start();
  const env = { RATE_LIMIT_AUTH_FAILURES_MAX: '4' };
  const service = await startService({ env, redisUrl: redis.url, jobs: false });
  const { anonymous } = service;
  const guess = () => anonymous.get('/api/plants').set('Authorization', `Bearer ${makeToken()}`);
  try {
    await until(
      async () => record((await anonymous.get('/readyz')).body)['rateLimits'] === 'shared',
    );
    // The first call may have to load the script.
    await guess().expect(401);
    const before = await redis.scriptRuns();
    for (let count = 0; count < 3; count += 1) await guess().expect(401);
    expect(await redis.scriptRuns()).toBe(before + 3);
    await Promise.all(Array.from({ length: 20 }, () => guess().expect(429)));
    expect(await redis.scriptRuns()).toBe(before + 3);
    const metrics = await scrape(service.url);
    const refused = { budget: 'auth-failures' };
    expect(valueOf(metrics, 'plantcare_rate_limited_total', refused)).toBe(20);
  } finally {
    await service.close();
    await redis.remove();
  }
});

test('a guessed token takes less CPU time than an uncached read, even once the budget is spent', async () => {
  const service = await startService({
    env: { RATE_LIMIT_AUTH_FAILURES_MAX: '400', TRUST_PROXY: '1', ANSWER_CACHE_MB: '0' },
    jobs: false,
  });
  const user = await service.user();
  const { id } = await user.plant();
  /** The CPU time of the process for 50 concurrent requests in ms, including their client. */
  const costOf = async (status: number, token: () => string, address: string): Promise<number> => {
    const { user: before } = process.cpuUsage();
    const ask = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${token()}`, 'x-forwarded-for': address };
      const answer = await fetch(`${service.url}/api/plants/${id}`, { headers });
      expect(answer.status).toBe(status);
      await answer.arrayBuffer();
    };
    await Promise.all(Array.from({ length: 50 }, ask));
    return (process.cpuUsage().user - before) / 1000;
  };
  try {
    const spent = '192.0.2.1';
    for (let count = 0; count < 8; count += 1) await costOf(401, makeToken, spent);
    const costs: Record<'read' | 'guessed' | 'spent', number[]> = {
      read: [],
      guessed: [],
      spent: [],
    };
    for (let round = 0; round < 7; round += 1) {
      costs.read.push(await costOf(200, () => user.token, '192.0.2.2'));
      costs.guessed.push(await costOf(401, makeToken, '192.0.2.3'));
      costs.spent.push(await costOf(429, makeToken, spent));
    }
    expect(median(costs.guessed)).toBeLessThan(median(costs.read));
    expect(median(costs.spent)).toBeLessThan(median(costs.read));
  } finally {
    await service.close();
  }
});
