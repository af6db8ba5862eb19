import { errorOf } from '../support/raw';
import type { TestService } from '../support/service';
import {
  assistant,
  type Assistant,
  post,
  rpc,
  type RpcReply,
  statelessHeaders,
  statelessParams,
} from './support';
import { startService } from '../support/program';

const READS = 2;

let service: TestService;
let me: Assistant;

beforeAll(async () => {
  service = await startService({
    env: { RATE_LIMIT_READS_MAX: String(READS), RATE_LIMIT_PLANTS_CREATE_MAX: '9' },
    // Counted in memory, so that a slow Redis cannot affect the count.
    redisUrl: null,
  });
});
beforeEach(async () => {
  me = await assistant(service);
});
afterAll(() => service.close());

/** A message and its headers. */
type Sent = readonly [body: unknown, headers?: Record<string, string>];

function stateless(method: string, params: object = {}): Sent {
  const name = 'name' in params ? { 'Mcp-Name': String(params.name) } : {};
  return [
    rpc(method, { ...params, ...statelessParams() }),
    { ...statelessHeaders('2026-07-28', method), ...name },
  ];
}

function leftOf({ headers }: RpcReply): unknown {
  return headers['ratelimit'];
}

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'a', version: '1' },
};
const unknownTool = { name: 'water_everything', arguments: {} };
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const createPlant = { name: 'create_plant', arguments: { name: 'Fern' } };

test.each<[string, number, Sent]>([
  ['tools/list', 200, [rpc('tools/list')]],
  ['tools/list, stateless', 200, stateless('tools/list')],
  ['initialize', 200, [rpc('initialize', initialize)]],
  ['initialize, stateless', 404, stateless('initialize', initialize)],
  ['ping', 200, [rpc('ping')]],
  ['server/discover, stateless', 200, stateless('server/discover')],
  ['an unknown method', 200, [rpc('tools/nothing')]],
  ['an unknown method, stateless', 404, stateless('tools/nothing')],
  ['an unknown tool', 200, [rpc('tools/call', unknownTool)]],
  ['an unknown tool, stateless', 200, stateless('tools/call', unknownTool)],
  ['arguments that are a list', 200, [rpc('tools/call', { name: 'list_plants', arguments: [] })]],
  ['a notification', 202, [notification]],
  ['a tool call as a notification', 202, [{ ...notification, method: 'tools/call' }]],
  ['a tool call with a wrong header', 400, [stateless('tools/call', createPlant)[0]]],
  ['a batch', 400, [[rpc('ping')]]],
  ['no request', 400, [{ id: 1 }]],
  ['no JSON', 400, ['{']],
  ['another media type', 415, ['{}', { 'Content-Type': 'text/plain' }]],
  ['more than 100 KiB', 413, [{ padding: 'x'.repeat(110_000) }]],
])('%s counts as a read, and is 429 if none are left', async (_, status, sent) => {
  for (let left = READS - 1; left >= 0; left -= 1) {
    const reply = await post(me, ...sent);
    expect(reply.status).toBe(status);
    expect(leftOf(reply)).toMatch(new RegExp(`^"reads";r=${left};t=\\d+$`));
    expect(reply.headers['ratelimit-policy']).toBe(`"reads";q=${READS};w=60`);
  }
  const reply = await post(me, ...sent);
  expect([reply.status, errorOf({ body: reply.text }).code]).toEqual([429, 'rate_limited']);
  const { 'retry-after': seconds, 'x-ratelimit-remaining': remaining } = reply.headers;
  expect(remaining).toBe('0');
  expect(leftOf(reply)).toBe(`"reads";r=0;t=${seconds}`);
  // The budget is the account's, shared with REST.
  await me.user.get('/api/plants').expect(429);
});

test.each<[string, Sent]>([
  ['until 2025-11-25', [rpc('tools/call', createPlant)]],
  ['since 2026-07-28', stateless('tools/call', createPlant)],
])('an operation spends its own budget and no read, with revisions %s', async (_, sent) => {
  for (let left = 8; left >= 5; left -= 1) {
    const reply = await post(me, ...sent);
    expect(reply.body.result).toMatchObject({ structuredContent: { name: 'Fern' } });
    expect(leftOf(reply)).toMatch(new RegExp(`^"plants";r=${left};`));
  }
  expect(leftOf(await post(me, rpc('ping')))).toMatch(/^"reads";r=1;/);
});

test.each<[string, (params: object) => Sent]>([
  ['until 2025-11-25', (params) => [rpc('tools/call', params)]],
  ['since 2026-07-28', (params) => stateless('tools/call', params)],
])('a read counts as one read, with revisions %s', async (_, sent) => {
  const listPlants = sent({ name: 'list_plants', arguments: {} });
  for (const left of [1, 0]) {
    expect(leftOf(await post(me, ...listPlants))).toMatch(new RegExp(`^"reads";r=${left};`));
  }
  // A refusal by an operation is a result, which a model reads.
  const reply = await post(me, ...listPlants);
  expect([reply.status, reply.body.result]).toMatchObject([200, { isError: true }]);
  expect(reply.text).toContain('rate_limited: ');
});
