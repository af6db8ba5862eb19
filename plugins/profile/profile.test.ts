import { resetClock, setClock } from '../../test/support/clock';
import { insightsOf, water } from '../../test/support/insights';
import { anyId, anyInstant, bodyOf, expectError, faultsOf } from '../../test/support/shapes';
import type { TestService } from '../../test/support/service';
import { assistant, tool } from '../../test/mcp/support';
import { startService } from '../../test/support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(resetClock);
afterAll(() => service.close());

test('an account shows its tier, zone, language, day, limits and features, and the token', async () => {
  const user = await service.user({
    tier: 'free',
    scopes: ['plants:read'],
    timezone: 'Asia/Tokyo',
  });
  setClock('2026-03-14T15:00:00Z');
  const answer = await user.get('/api/account').expect(200);
  expect(answer.body).toEqual({
    userId: user.id,
    tier: 'free',
    timezone: 'Asia/Tokyo',
    language: 'en',
    remindAt: '07:00',
    reminders: 0,
    now: '2026-03-14T15:00:00.000Z',
    today: '2026-03-15',
    limits: expect.objectContaining({
      plants: { max: 25, used: 0 },
      photos: { max: 250, used: 0 },
      events: { max: 250_000, used: 0 },
    }) as object,
    features: { monthlyView: false },
    token: { id: anyId, name: 'test', scopes: ['plants:read'], expiresAt: anyInstant },
  });
  expect(JSON.stringify(answer.body)).not.toContain(user.token);
});

test('any valid token can read it, even one without scopes', async () => {
  const user = await service.user({ scopes: [] });
  const { token } = bodyOf(await user.get('/api/account').expect(200));
  expect(token).toMatchObject({ scopes: [] });
  expectError(await service.anonymous.get('/api/account'), 401, 'unauthorized');
});

test('usage changes with every plant and photo that is added or deleted', async () => {
  const user = await service.user();
  const limits = async () => bodyOf(await user.get('/api/account').expect(200))['limits'];
  const plants = await Promise.all([user.plant(), user.plant(), user.plant()]);
  const photo = await user.photo();
  expect(await limits()).toMatchObject({
    plants: { max: 1000, used: 3 },
    photos: { max: 20_000, used: 1 },
  });
  await user.delete(`/api/plants/${plants[0].id}`).expect(200);
  await user.delete(`/api/photos/${photo.id}`).expect(200);
  expect(await limits()).toMatchObject({
    plants: { max: 1000, used: 2 },
    photos: { max: 20_000, used: 0 },
  });
});

test('responses contain the time, so they are not cached', async () => {
  const user = await service.user();
  const { headers } = await user.get('/api/account').expect(200);
  expect(headers['cache-control']).toBe('private, no-store');
  expect(headers['vary']).toContain('Authorization');
});

test('responses have no ETag and are never 304, since they differ each time', async () => {
  const user = await service.user();
  const first = await user.get('/api/account').expect(200);
  expect(first.headers).not.toHaveProperty('etag');
  await user.get('/api/account').set('If-None-Match', '*').expect(200);
  const changed = await user
    .patch('/api/account', { timezone: 'Europe/Paris' })
    .set('If-Match', '"x"')
    .expect(200);
  expect(changed.headers).not.toHaveProperty('etag');
  expect(changed.body).toMatchObject({ timezone: 'Europe/Paris', token: { id: anyId } });
});

test.each([
  ['GMT+03:00', 'Etc/GMT-3'],
  ['GMT-11:00', 'Etc/GMT+11'],
  ['GMT+00:00', 'UTC'],
])('the fixed zone %s of Android is %s', async (given, timezone) => {
  const user = await service.user();
  const answer = await user.patch('/api/account', { timezone: given }).expect(200);
  expect(answer.body).toMatchObject({ timezone });
});

test('changing the time zone changes today, but not the days of logged events', async () => {
  const user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 3600 });
  setClock('2026-03-15T12:00:00Z');
  const { id } = await user.plant();
  await water(user, id, ['2026-03-14T23:30:00Z']);
  const days = async () => (await insightsOf(user)).careActivityByDay.map(({ date }) => date);
  expect(await days()).toEqual(['2026-03-14']);
  const moved = await user.patch('/api/account', { timezone: 'Asia/Kathmandu' }).expect(200);
  expect(moved.body).toMatchObject({ timezone: 'Asia/Kathmandu', today: '2026-03-15' });
  expect(await days()).toEqual(['2026-03-14']);
  await water(user, id, ['2026-03-14T23:30:00Z']);
  expect(await days()).toEqual(['2026-03-14', '2026-03-15']);
});

test('neither tier nor other fields can be set, and changes require plants:write', async () => {
  const user = await service.user({ tier: 'free', scopes: ['plants:read'] });
  const refused = await user.patch('/api/account', { timezone: 'UTC' });
  expectError(refused, 403, 'insufficient_scope');
  const other = await service.user();
  const answer = await other.patch('/api/account', { timezone: 'UTC', tier: 'pro' }).expect(400);
  expect(faultsOf(answer)).toEqual(['tier']);
});

test('fields that are left out do not change', async () => {
  const user = await service.user();
  const change = async (body: object) => {
    const answer = await user.patch('/api/account', body).expect(200);
    const { timezone, language, remindAt } = bodyOf(answer);
    return { timezone, language, remindAt };
  };
  await change({ timezone: 'Europe/Oslo' });
  const norwegian = { timezone: 'Europe/Oslo', language: 'nb-NO', remindAt: '07:00' };
  expect(await change({ language: 'nb-no' })).toEqual(norwegian);
  expect(await change({ remindAt: '21:30' })).toEqual({ ...norwegian, remindAt: '21:30' });
  expect(await change({ remindAt: null })).toEqual({ ...norwegian, remindAt: null });
  expect(await change({})).toEqual({ ...norwegian, remindAt: null });
  expect(bodyOf(await user.get('/api/account'))).toMatchObject({ ...norwegian, remindAt: null });
});

test.each([
  ['timezone', ['Europe/Atlantis', '+02:00', 'GMT+05:30', 'GMT+15:00', '', null, 2]],
  ['language', ['english', 'en_US', 'e', '', 'de-', 'x-klingon', `en-${'a'.repeat(62)}`, null, 7]],
  ['remindAt', ['7:00', '24:00', '07:60', '07:00:00', '07:00\n', '', 700, false]],
])('an invalid %s is refused', async (field, values) => {
  const user = await service.user();
  for (const value of values) {
    const answer = await user.patch('/api/account', { [field]: value }).expect(400);
    expect(faultsOf(answer)).toEqual([field]);
  }
});

test('an assistant reads the current day, and can change the time zone', async () => {
  const me = await assistant(service, { timezone: 'Pacific/Auckland' });
  expect(await tool(me, 'get_account')).toMatchObject({ timezone: 'Pacific/Auckland' });
  expect(await tool(me, 'update_account', { timezone: 'Europe/Oslo' })).toMatchObject({
    timezone: 'Europe/Oslo',
  });
  expect(await tool(me, 'update_account', { language: 'sv', remindAt: null })).toMatchObject({
    timezone: 'Europe/Oslo',
    language: 'sv',
    remindAt: '07:00',
    reminders: 0,
  });
  expect(await tool(me, 'update_account', { clear: ['remindAt'] })).toMatchObject({
    language: 'sv',
    remindAt: null,
  });
});
