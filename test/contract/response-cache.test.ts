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
  service = await startService({ jobs: false });
});
afterAll(() => service.close());

const rows = operationRows();
const reads = rows.filter(([, { access, method }]) => method === 'GET' && 'scope' in access);

test('a cached response costs only the query for the account, over REST and as a tool', async () => {
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

test('accounts of the same revision each get their own cached response', async () => {
  for (const name of ['Fern', 'Ivy']) {
    const user = await service.user();
    await user.plant({ name });
    for (const path of ['/api/plants', '/api/plant-summaries']) {
      const response = await user.get(path).expect(200);
      expect(response.body).toMatchObject([{ name }]);
    }
  }
});

test('cached responses stay within the memory limit', async () => {
  const cache = new ResponseCache({ megabytes: 1, isSharded: false }, new Metrics());
  const before = process.memoryUsage().arrayBuffers;
  for (let revision = 0; revision < 1500; revision += 1) {
    const content = new Content(`${revision} `.repeat(250));
    cache.set({ name: String(revision), revision }, content, { from: 0, until: Infinity });
    await Promise.all([content.compressed('br'), content.compressed('gzip')]);
  }
  // Evicted responses use memory until they are collected.
  await until(() => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers - before < 4 * 1024 * 1024;
  });
});

test('on a sharded cluster no response is cached, since the revision may be visible before the data', () => {
  const account = {
    id: 'ada',
    tier: 'pro',
    timezone: 'UTC',
    language: 'en',
    remindAt: null,
    gardenName: null,
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

test('cached responses depend only on the data of accounts', () => {
  const { endpoints } = surfaceOf(service.app);
  const kept = rows.filter(([, { cacheable }]) => cacheable).map(([name]) => name);
  expect(kept.length).toBeGreaterThan(5);
  const touching = endpoints.filter((each) => kept.includes(operationName(each)));
  const shared = surfaceOf(service.app)
    .collections.filter(({ owner }) => owner !== 'account')
    .map(({ name }) => name);
  expect(shared).toContain('announcements');
  // Authentication reads these two; no response contains their data.
  // What says whose data a call is for is read before the cache.
  const outside = shared.filter((name) => !['accounts', 'tokens', 'members'].includes(name));
  const collections = touching.flatMap((each) => each.collections);
  expect(outside.filter((name) => collections.includes(name))).toEqual([]);
});
