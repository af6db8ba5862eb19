import { familiesOf, valueOf } from '../support/metrics';
import { eventually } from '../support/processes';
import { type ProxiedService, startProxiedService } from '../support/proxied-service';
import type { TestUser } from '../support/service';

/** How long connections are reset, in ms. */
const LOAD_MS = 6000;
/** What share of MongoDB's answers is the last on its connection. */
const SHARE = 0.02;
/** The ten seconds that a write may be retried, and its last attempt. */
const ANSWER_MS = 16_000;

const READS = ['/api/insights', '/api/changes?limit=1', '/api/plants', '/api/plants?q=fern'];

let proxied: ProxiedService;

beforeEach(async () => {
  proxied = await startProxiedService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
});
afterEach(() => proxied.close());

/** Calls again and again; answers which statuses came how often. */
async function loop(calls: readonly (() => Promise<number>)[]): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const end = performance.now() + LOAD_MS;
  await Promise.all(
    calls.map(async (call) => {
      while (performance.now() < end) {
        const status = await call();
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  return statuses;
}

function readBy(user: TestUser, path: string): () => Promise<number> {
  return async () => (await user.get(path).timeout(ANSWER_MS)).status;
}

function writeBy(user: TestUser): () => Promise<number> {
  return async () => (await user.post('/api/plants', { name: 'Fern' }).timeout(ANSWER_MS)).status;
}

test('connections that are reset all the time cost no answer, and none is kept for ever', async () => {
  const { service, proxy } = proxied;
  const users = await Promise.all(Array.from({ length: 8 }, () => service.user()));
  for (const user of users) await user.plant();
  const reads = users.flatMap((user) => READS.map((path) => readBy(user, path)));
  proxy.resetAfter(SHARE);
  const statuses = await loop([...reads, ...users.map(writeBy)]);
  proxy.restore();
  expect(Object.keys(statuses).filter((status) => !['200', '201', '503'].includes(status))).toEqual(
    [],
  );
  await eventually(async () => {
    const metrics = familiesOf(await service.app.metrics.text());
    const used = valueOf(metrics, 'plantcare_mongodb_connections', { state: 'in_use' });
    return used === 0 && valueOf(metrics, 'plantcare_write_queue_depth') === 0;
  });
});
