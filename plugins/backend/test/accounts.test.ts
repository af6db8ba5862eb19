import { randomUUID } from 'node:crypto';

import { record, records } from '../../../test/support/client';
import { until } from '../../../test/support/processes';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { backendOf, newId } from '../../../test/support/backend';

let service: TestService;
let shop: TestUser;

beforeAll(async () => {
  service = await startService({ jobs: false });
  shop = await backendOf(service, 'shop');
});
afterAll(() => service.close());

async function made(id = newId(), fields: object = {}): Promise<string> {
  await shop.put(`/api/accounts/${id}`, fields).expect(201);
  return id;
}

test('PUT creates an account once, and then changes it', async () => {
  const id = newId();
  const path = `/api/accounts/${id}`;
  const first = bodyOf(await shop.put(path, { tier: 'pro' }).expect(201));
  expect(first).toMatchObject({ id, tier: 'pro', tierUntil: null, timezone: 'UTC' });
  expect(bodyOf(await shop.put(path, { tier: 'pro' }).expect(200))).toEqual(first);
  expect(bodyOf(await shop.put(path).expect(200))).toEqual(first);
  const changed = bodyOf(await shop.put(path, { timezone: 'europe/paris' }).expect(200));
  expect(changed).toEqual({ ...first, timezone: 'Europe/Paris' });
  expect(bodyOf(await shop.get(path).expect(200))).toEqual(changed);
});

test.each(['a', 'Ada.b_c-d@e|f:g', '9'.repeat(64), '...', '-'])(
  '%j is a valid id',
  async (name) => {
    const path = `/api/accounts/${encodeURIComponent(name)}`;
    expect(bodyOf(await shop.put(path).expect(201))).toMatchObject({ id: name });
    await shop.get(path).expect(200);
    await shop.delete(path).expect(200);
  },
);

test.each(['a b', '~shop', 'ü', 'a'.repeat(65), 'a%00', '%2e%2e%2f', 'a%2Fb', '$ne', 'a+b', '{}'])(
  '%j is not a valid id: PUT is 400, everything else 404',
  async (name) => {
    const path = `/api/accounts/${name.includes('%') ? name : encodeURIComponent(name)}`;
    expectError(await shop.put(path), 400, 'validation_error', /1 to 64/);
    for (const answer of [
      await shop.get(path),
      await shop.delete(path),
      await shop.get(`${path}/tokens`),
      await shop.post(`${path}/tokens`, { name: 'Phone' }),
      await shop.delete(`${path}/tokens`),
      await shop.get(`${path}/export`),
    ]) {
      expectError(answer, 404, 'account_not_found');
    }
  },
);

test('an account that does not exist is 404, and is not created', async () => {
  const path = `/api/accounts/${newId()}`;
  const token = `${path}/tokens/${randomUUID()}`;
  for (const answer of [
    await shop.get(path),
    await shop.delete(path),
    await shop.get(`${path}/tokens`),
    await shop.post(`${path}/tokens`, { name: 'Phone' }),
    await shop.post(`${path}/tokens`, { name: 'Phone' }).set('Idempotency-Key', 'a key'),
    await shop.delete(`${path}/tokens`),
    await shop.delete(token),
    await shop.get(`${path}/export`),
  ]) {
    expectError(answer, 404, 'account_not_found');
  }
  await shop.put(path).expect(201);
  await shop.post(`${path}/tokens`, { name: 'Phone' }).set('Idempotency-Key', 'a key').expect(201);
});

test.each([
  [{ tier: 'gold' }, ['tier']],
  [{ tier: null }, ['tier']],
  [{ tier: 'pro', tierUntil: '2030-01-01' }, ['tierUntil']],
  [{ timezone: 'Mars/Olympus' }, ['timezone']],
  [{ id: 'ada', userId: 'ada' }, ['id', 'userId']],
])('an account with %j is refused and not created', async (fields, faults) => {
  const path = `/api/accounts/${newId()}`;
  expect(faultsOf(await shop.put(path, fields).expect(400))).toEqual(faults);
  expectError(await shop.get(path), 404, 'account_not_found');
});

test('after tierUntil the tier is free again, and a new one is permanent by default', async () => {
  const path = `/api/accounts/${await made()}`;
  const later = '2030-01-01T00:00:00.000Z';
  const paid = bodyOf(await shop.put(path, { tier: 'pro', tierUntil: later }).expect(200));
  expect(paid).toMatchObject({ tier: 'pro', tierUntil: later });
  const { token } = bodyOf(await shop.post(`${path}/tokens`, { name: 'Phone' }).expect(201));
  const phone = userOf(service.url, String(paid['id']), String(token));
  const plant = await phone.plant();
  const month = `/api/plants/${plant.id}/events/month?monthStart=0&monthEnd=1`;
  await phone.get(month).expect(200);
  const soon = new Date(Date.now() + 300).toISOString();
  await shop.put(path, { tier: 'pro', tierUntil: soon }).expect(200);
  await until(async () => (await phone.get(month)).status === 403);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
  expect(bodyOf(await phone.get('/api/account').expect(200))).toMatchObject({ tier: 'free' });
  expect(bodyOf(await shop.get(path))).toMatchObject({ tier: 'free', tierUntil: soon });
  const past = bodyOf(await shop.put(path, { tier: 'pro', tierUntil: soon }).expect(200));
  expect(past).toMatchObject({ tier: 'free' });
  expect(bodyOf(await shop.put(path, { tier: 'pro' }))).toMatchObject({ tierUntil: null });
  for (const changes of [{ tierUntil: later }, { timezone: 'Europe/Paris' }]) {
    const changed = bodyOf(await shop.put(path, changes).expect(200));
    expect(changed).toMatchObject({ tier: 'pro', tierUntil: later });
  }
  await phone.get(month).expect(200);
});

test('each account is listed once, by id, whatever is created and deleted meanwhile', async () => {
  const own = await startService({});
  try {
    const backend = await backendOf(own, 'lister');
    const put = (id: string) => backend.put(`/api/accounts/${id}`).expect(201);
    const names = Array.from({ length: 25 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    for (const name of names) await put(name);
    // Operators may use names that no path can contain.
    await own.user({ id: 'Ada Lovelace' });
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; cursor !== '' || page === 0; page += 1) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const body = bodyOf(await backend.get(`/api/accounts?limit=4${query}`).expect(200));
      seen.push(...records(body['items']).map(({ id }) => String(id)));
      expect(body['hasMore']).toBe(body['nextCursor'] !== null);
      const { nextCursor } = body;
      cursor = typeof nextCursor === 'string' ? nextCursor : '';
      await put(`a${page}`);
      await backend.delete(`/api/accounts/${names[page * 4] ?? 'a0'}`);
    }
    expect(seen).toEqual(names);
    for (const wrong of ['x', 'bTAw', `${cursor}0`]) {
      expectError(await backend.get(`/api/accounts?cursor=${wrong}`), 400, 'invalid_cursor');
    }
    expect(faultsOf(await backend.get('/api/accounts?limit=0').expect(400))).toEqual(['limit']);
  } finally {
    await own.close();
  }
});

test('deleting an account closes it at once; its id can be used again once nothing is left', async () => {
  const id = await made();
  const path = `/api/accounts/${id}`;
  const { token } = bodyOf(await shop.post(`${path}/tokens`, { name: 'Phone' }).expect(201));
  const phone = userOf(service.url, id, String(token));
  await phone.plant();
  expectError(await shop.delete(path).set('If-Match', '"x"'), 412, 'precondition_failed');
  await shop.delete(path).expect(200);
  expectError(await phone.get('/api/plants'), 401, 'invalid_token');
  expectError(await shop.delete(path), 404, 'account_not_found');
  const early = await shop.put(path);
  expectError(early, 503, 'service_unavailable', /being deleted/);
  expect(Number(early.headers['retry-after'])).toBeGreaterThan(0);
  await service.runJob('deletion of closed accounts');
  expect(await service.app.exportsOf(accountsPlugin).data.counts(id)).toBeUndefined();
  await shop.put(path).expect(201);
  expect(bodyOf(await shop.get(`${path}/tokens`))).toEqual({ items: [] });
});

test('of several deletions at the same time one closes the account', async () => {
  const id = await made();
  const sent = await Promise.all([1, 2, 3, 4].map(() => shop.delete(`/api/accounts/${id}`)));
  expect(sent.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  const acts: string[] = [];
  for await (const batch of service.app.audit.entries({ userId: id, withDeleted: true })) {
    acts.push(...batch.map(({ action }) => action));
  }
  expect(acts.filter((action) => action === 'account.deletion_begun')).toHaveLength(1);
});

test('an export has everything stored, and the audit log says who did what', async () => {
  const id = await made();
  const path = `/api/accounts/${id}`;
  const { token } = bodyOf(await shop.post(`${path}/tokens`, { name: 'Phone' }).expect(201));
  await userOf(service.url, id, String(token)).plant({ name: 'Fern' });
  await shop.put(path, { tier: 'pro', tierUntil: '2030-01-01T00:00:00Z' }).expect(200);
  const answer = await shop.get(`${path}/export`).expect(200);
  const all = record(answer.body);
  expect(all['account']).toMatchObject({ id, tierUntil: '2030-01-01T00:00:00.000Z' });
  expect(record(all['records'])['plants']).toMatchObject([{ name: 'Fern' }]);
  expect(answer.text).not.toContain(String(token));
  const acts = records(all['auditLog']).filter(({ action }) => action !== 'token.first_used');
  expect(acts.map(({ action }) => action)).toEqual([
    'account.created',
    'token.created',
    'account.changed',
    'account.exported',
  ]);
  for (const { actor } of acts) expect(actor).toMatchObject({ type: 'token', account: '~shop' });
});
