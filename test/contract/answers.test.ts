import { Content } from '../../src/core/http/content';
import { Metrics } from '../../src/core/metrics';
import { callTool } from '../mcp/support';
import { collectGarbage } from '../support/garbage';
import { until } from '../support/processes';
import { queriesOf } from '../support/profiler';
import type { TestService } from '../support/service';
import {
  ResponseCache,
  surfaceOf,
  operationName,
  operationRows,
  startService,
} from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const rows = operationRows();
const reads = rows.filter(([, { access, method }]) => method === 'GET' && 'scope' in access);

test('a cached answer costs no query but that for the account, also as a tool', async () => {
  const user = await service.user();
  await user.plant();
  const me = { url: service.url, token: user.token, user };
  const list = '/api/plant-summaries';
  await user.get(list).expect(200);
  await callTool(me, 'list_plants', {});
  const queries = await queriesOf(service, async () => {
    await user.get(list).expect(200);
    await callTool(me, 'list_plants', {});
  });
  const collections = queries.map(({ collection }) => collection);
  expect(collections).toContain('accounts');
  expect(collections.filter((each) => ['plants', 'photos'].includes(each))).toEqual([]);
});

test('answers take no more memory than they may', async () => {
  const cache = new ResponseCache({ megabytes: 1, isSharded: false }, new Metrics());
  const before = process.memoryUsage().arrayBuffers;
  for (let revision = 0; revision < 1500; revision += 1) {
    const content = new Content(`${revision} `.repeat(250));
    cache.set({ name: String(revision), revision }, content, { from: 0, until: Infinity });
    await Promise.all([content.compressed('br'), content.compressed('gzip')]);
  }
  // What was evicted is freed when it is collected, so there is some more for a while.
  await until(() => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers - before < 4 * 1024 * 1024;
  });
});

test('on a sharded cluster no answer is cached, since the revision may be seen before the rest', () => {
  const account = {
    id: 'ada',
    tier: 'pro',
    timezone: 'UTC',
    language: 'en',
    remindAt: null,
    createdAt: new Date(),
    revision: 1,
    usage: {},
  } as const;
  const keysOf = (isSharded: boolean) => {
    const cache = new ResponseCache({ megabytes: 1, isSharded }, new Metrics());
    const input = { params: {}, query: {}, body: undefined };
    return reads.flatMap(([, operation]) => cache.keyOf(operation, account, input) ?? []);
  };
  expect(keysOf(false).length).toBeGreaterThan(5);
  expect(keysOf(true)).toEqual([]);
});

test('cached answers are made from the data of accounts alone', () => {
  const { endpoints } = surfaceOf(service.app);
  const kept = rows.filter(([, { cacheable }]) => cacheable).map(([name]) => name);
  expect(kept.length).toBeGreaterThan(5);
  const touching = endpoints.filter((each) => kept.includes(operationName(each)));
  const shared = surfaceOf(service.app)
    .collections.filter(({ owner }) => owner !== 'account')
    .map(({ name }) => name);
  expect(shared).toContain('announcements');
  // Authentication reads those two; what they say is not in any answer.
  const outside = shared.filter((name) => !['accounts', 'tokens'].includes(name));
  const collections = touching.flatMap((each) => each.collections);
  expect(outside.filter((name) => collections.includes(name))).toEqual([]);
});
