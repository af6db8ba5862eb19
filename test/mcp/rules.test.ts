import type { TestService } from '../support/service';
import { assistant, callTool, post, refused, rpc, tool } from './support';
import { startService } from '../support/program';

/** With the usual limits of tests. */
let usual: TestService;
const others: TestService[] = [];

beforeAll(async () => {
  usual = await startService();
});
afterAll(() => Promise.all([usual, ...others].map((service) => service.close())));

/** A service for one test. */
async function own(env: NodeJS.ProcessEnv = {}): Promise<TestService> {
  const service = await startService({ env });
  others.push(service);
  return service;
}

test('tools and REST spend the same budgets', async () => {
  const service = await own({ RATE_LIMIT_PLANTS_CREATE_MAX: '3', RATE_LIMIT_READS_MAX: '2' });
  const me = await assistant(service);
  await me.user.plant();
  const params = { name: 'create_plant', arguments: { name: 'Fern' } };
  const { headers } = await post(me, rpc('tools/call', params));
  expect(headers['ratelimit-policy']).toBe('"plants";q=3;w=60');
  expect(headers['ratelimit']).toMatch(/^"plants";r=1;t=\d+$/);
  // A refused call also spends, as over REST.
  await refused(me, 'create_plant', {});
  expect(await refused(me, 'create_plant', { name: 'Fern' })).toMatch(
    /^rate_limited: .* Wait \d+ seconds, then call create_plant again\.$/,
  );
  await me.user.post('/api/plants', { name: 'Fern' }).expect(429);
  await me.user.get('/api/plants').expect(200);
  await tool(me, 'list_locations');
  expect(await refused(me, 'get_insights')).toContain('rate_limited');
  await me.user.get('/api/insights').expect(429);
});

test('a missing scope is reported by a result that names it', async () => {
  const me = await assistant(usual, { scopes: ['plants:read'] });
  expect(await refused(me, 'create_plant', { name: 'Fern' })).toMatch(
    /^insufficient_scope: The token lacks the scope plants:write\. .*another token/,
  );
  await tool(me, 'list_announcements');
});

test('limits of the tier are reported by results that say what to do', async () => {
  const service = await own({ TIER_FREE_PLANTS: '1', TIER_FREE_PHOTOS: '0' });
  const me = await assistant(service, { tier: 'free' });
  const { id } = await tool(me, 'create_plant', { name: 'Fern' });
  expect(await refused(me, 'create_plant', { name: 'Ivy' })).toMatch(
    /^plant_limit_reached: .*allows 1\. .*delete_plant/,
  );
  const photo = {
    imagehostPublicId: 'a',
    secureUrl: 'https://a.example/',
    width: 1,
    height: 1,
    format: 'jpg',
  };
  expect(await refused(me, 'create_photo', photo)).toMatch(/^photo_limit_reached: .*allows 0\. /);
  const month = { id, monthStart: 0, monthEnd: 1 };
  expect(await refused(me, 'list_month_events', month)).toMatch(
    /^feature_not_available: .*monthly view.* Call list_events instead/,
  );
  await tool(me, 'delete_plant', { id });
  await tool(me, 'create_plant', { name: 'Ivy' });
});

test('an unknown record is reported by a result that says where to look', async () => {
  const me = await assistant(usual);
  const id = '01920000-0000-7000-8000-0123456789ab';
  expect(await refused(me, 'get_plant', { id })).toMatch(/^plant_not_found: .*list_plants/);
  expect(await refused(me, 'create_event', { id, type: 'note' })).toMatch(
    /^plant_not_found: .*list_plants/,
  );
  expect(await refused(me, 'update_event', { id })).toMatch(/^event_not_found: .*search_events/);
  expect(await refused(me, 'get_photo', { id })).toMatch(/^photo_not_found: .*create_photo/);
  const stranger = await assistant(usual);
  const plant = await stranger.user.plant();
  expect(await refused(me, 'get_plant', { id: plant.id })).toMatch(/^plant_not_found: /);
  const mine = await me.user.plant();
  expect(await refused(me, 'create_event', { id: mine.id, type: 'note', photoIds: [id] })).toMatch(
    /^photo_not_found: photoIds .*create_photo/,
  );
  expect(await refused(me, 'list_events', { id: mine.id, cursor: 'x' })).toMatch(
    /^invalid_cursor: .*without cursor/,
  );
  const photo = await me.user.photo();
  expect(
    await refused(me, 'crop_photo', { id: photo.id, x: 0, y: 0, width: 5, height: 9 }),
  ).toMatch(/^invalid_crop: The width .*get_photo/);
});

test('tools and REST share Idempotency-Keys', async () => {
  const me = await assistant(usual);
  const key = { 'Idempotency-Key': 'once' };
  const body = { name: 'Fern' };
  const first = await callTool(me, 'create_plant', body, key);
  const again = await post(me, rpc('tools/call', { name: 'create_plant', arguments: body }), key);
  expect(again.body.result).toEqual(first);
  expect(again.headers['idempotent-replayed']).toBe('true');
  const rest = await me.user.post('/api/plants', body).set(key).expect(201);
  expect(rest.body).toEqual(first.structuredContent);
  expect((await tool(me, 'list_plants'))['items']).toHaveLength(1);
  const other = await callTool(me, 'create_plant', { name: 'Ivy' }, key);
  expect([other.isError, other.content[0]?.text]).toEqual([
    true,
    expect.stringContaining('idempotency_mismatch'),
  ]);
});

test('a tool changes nothing if If-Match does not match, as over REST', async () => {
  const me = await assistant(usual);
  const { id } = await me.user.plant();
  const current = (await me.user.get(`/api/plants/${id}`).expect(200)).get('ETag') ?? '';
  const renamed = { id, name: 'Ivy' };
  const stale = await callTool(me, 'update_plant', renamed, { 'If-Match': '"stale"' });
  expect([stale.isError, stale.content[0]?.text]).toEqual([
    true,
    expect.stringContaining('precondition_failed'),
  ]);
  await me.user.get(`/api/plants/${id}`).set('If-None-Match', current).expect(304);
  await callTool(me, 'update_plant', renamed, { 'If-Match': current });
  expect((await me.user.get(`/api/plants/${id}`).expect(200)).body).toMatchObject(renamed);
});

test('a stored error is replayed as an error', async () => {
  const me = await assistant(usual);
  const key = { 'Idempotency-Key': 'once' };
  const given = { id: '01920000-0000-7000-8000-0123456789ab', type: 'note' };
  const first = await callTool(me, 'create_event', given, key);
  expect(first.content[0]?.text).toMatch(/^plant_not_found: .*list_plants/);
  expect(await callTool(me, 'create_event', given, key)).toEqual(first);
});

test('an unexpected failure is logged, and the result does not contain the reason', async () => {
  const service = await own();
  const me = await assistant(service);
  const failing = async (): Promise<never> => {
    throw new Error('the secret');
  };
  for (const operation of service.app.operations) operation.handler = failing;
  expect(await refused(me, 'list_plants')).toMatch(
    /^internal_error: .* Wait .* list_plants once more/,
  );
  expect(await refused(me, 'create_plant', { name: 'Fern' })).toMatch(
    /^internal_error: .* Check whether/,
  );
  expect(service.logged.filter((line) => line.includes('the secret'))).toHaveLength(2);
});

test('an outage of the database is reported by a result that says to wait', async () => {
  const service = await own();
  const me = await assistant(service);
  const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), {
    name: 'MongoNetworkError',
  });
  for (const operation of service.app.operations) {
    operation.handler = async () => {
      throw away;
    };
  }
  const reason = await refused(me, 'list_plants');
  expect(reason).toMatch(/^(service_unavailable|internal_error): /);
  expect(reason).not.toContain('10.0.0.7');
});
