import type { Test } from 'supertest';

import { familiesOf, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { ProxiedService } from '../support/proxied-service';
import { startProxiedService } from '../support/program';

/** How long connections are reset, in ms; an unpatched driver loses a response within two seconds. */
const LOAD_MS = 2500;
/** The share of MongoDB's replies after which the connection is reset. */
const SHARE = 0.05;
/** The ten seconds in which a write is retried, and its last attempt. */
const ANSWER_MS = 16_000;

const READS = ['/api/insights', '/api/changes?limit=1', '/api/plants', '/api/plants?q=fern'];

let proxied: ProxiedService;

beforeEach(async () => {
  proxied = await startProxiedService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
});
afterEach(() => proxied.close());

/** Calls repeatedly; returns the statuses. */
async function loop(calls: readonly (() => Test)[]): Promise<Set<number>> {
  const statuses = new Set<number>();
  const end = performance.now() + LOAD_MS;
  await Promise.all(
    calls.map(async (call) => {
      while (performance.now() < end) statuses.add((await call().timeout(ANSWER_MS)).status);
    }),
  );
  return statuses;
}

test('constant connection resets cost no response and leak no connection', async () => {
  const { service, proxy } = proxied;
  const users = await Promise.all(Array.from({ length: 8 }, () => service.user()));
  for (const user of users) await user.plant();
  const reads = users.flatMap((user) => READS.map((path) => () => user.get(path)));
  const writes = users.map((user) => () => user.post('/api/plants', { name: 'Fern' }));
  proxy.resetAfter(SHARE);
  const statuses = await loop([...reads, ...writes]);
  proxy.restore();
  expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  await until(async () => {
    const metrics = familiesOf(await service.app.metrics.text());
    const used = valueOf(metrics, 'plantcare_mongodb_connections', { state: 'in_use' });
    return used === 0 && valueOf(metrics, 'plantcare_write_queue_depth') === 0;
  });
});
