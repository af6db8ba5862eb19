import { randomUUID } from 'node:crypto';

import { record, records } from '../../../test/support/client';
import { accountsPlugin, startService, until, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf } from '../../../test/support/shapes';

let service: TestService;
let ada: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ada = await service.user();
});
afterAll(() => service.close());

const PHONE = { name: 'Phone', scopes: ['plants:read'], expiresIn: 3600 };

async function make(fields: object = {}, user = ada) {
  const made = bodyOf(await user.post('/api/account/tokens', { ...PHONE, ...fields }).expect(201));
  return { ...made, id: String(made['id']), token: String(made['token']) };
}

async function listed(): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await ada.get('/api/account/tokens').expect(200))['items']);
}

test('a person creates a token, which is shown once and works until it is revoked', async () => {
  const { id, token, ...rest } = await make();
  expect(rest).toMatchObject({ name: 'Phone', scopes: ['plants:read'], lastUsedAt: null });
  const phone = userOf(service.url, ada.id, token);
  await phone.get('/api/plants').expect(200);
  expectError(await phone.post('/api/plants', { name: 'Fern' }), 403, 'insufficient_scope');
  const [, shown] = await listed();
  expect(shown).toMatchObject({ id, name: 'Phone' });
  expect(JSON.stringify(await listed())).not.toContain(token);
  await ada.delete(`/api/account/tokens/${id}`).expect(200);
  expectError(await phone.get('/api/plants'), 401, 'invalid_token');
  expect((await listed()).map((each) => each['id'])).not.toContain(id);
  expectError(await ada.delete(`/api/account/tokens/${id}`), 404, 'token_not_found');
});

test('a token has no more scopes, and lives no longer, than the one that creates it', async () => {
  const short = await make({ scopes: ['account', 'plants:read'], expiresIn: 120 });
  const app = userOf(service.url, ada.id, short.token);
  const more = await app.post('/api/account/tokens', { ...PHONE, scopes: ['plants:write'] });
  expectError(more, 403, 'insufficient_scope');
  const made = await make({ expiresIn: undefined }, app);
  expect(made).toMatchObject({ expiresAt: record(short)['expiresAt'] });
});

test('the token of another account is not found', async () => {
  const { id, token } = await make();
  const bob = await service.user();
  expectError(await bob.delete(`/api/account/tokens/${id}`), 404, 'token_not_found');
  await userOf(service.url, ada.id, token).get('/api/plants').expect(200);
});

test('the operations require the scope account', async () => {
  const { token } = await make();
  const phone = userOf(service.url, ada.id, token);
  for (const answer of [
    await phone.get('/api/account/tokens'),
    await phone.post('/api/account/tokens', PHONE),
    await phone.get('/api/account/export'),
    await phone.delete('/api/account').send({ confirm: ada.id }),
  ]) {
    expectError(answer, 403, 'insufficient_scope');
  }
});

test('a repeat under an Idempotency-Key creates no second token, and names the first', async () => {
  const key = randomUUID();
  const send = () => ada.post('/api/account/tokens', PHONE).set('Idempotency-Key', key);
  const first = bodyOf(await send().expect(201));
  expectError(await send(), 409, 'idempotency_conflict', new RegExp(String(first['id'])));
  expect(await listed()).toHaveLength(2);
  const stored = await service.app.database.connection
    .collection('keptAnswers')
    .findOne({ userId: ada.id, key });
  expect(JSON.stringify(stored)).not.toContain(String(first['token']));
});

test('an account has at most 100 valid tokens', async () => {
  await Promise.all(Array.from({ length: 99 }, () => make()));
  expectError(await ada.post('/api/account/tokens', PHONE), 403, 'token_limit_reached');
});

test.each([
  [{ name: '' }, ['name']],
  [{ scopes: [] }, ['scopes']],
  [{ scopes: ['plants:read', 'plants:read'] }, ['scopes']],
  [{ expiresIn: 1 }, ['expiresIn']],
  [{ expiresIn: 40_000_000 }, ['expiresIn']],
])('%j is refused', async (fields, faults) => {
  const refused = await ada.post('/api/account/tokens', { ...PHONE, ...fields }).expect(400);
  expect(faultsOf(refused)).toEqual(faults);
});

test('an export has everything stored, and no secret', async () => {
  await ada.plant({ name: 'Fern' });
  const answer = await ada.get('/api/account/export').expect(200);
  expect(answer.headers['cache-control']).toBe('private, no-store');
  expect(record(answer.body)['account']).toMatchObject({ id: ada.id, tier: 'pro' });
  expect(record(record(answer.body)['records'])['plants']).toMatchObject([{ name: 'Fern' }]);
  expect(answer.text).not.toContain(ada.token);
});

test('deleting the account closes it at once, and leaves nothing but the audit log', async () => {
  await ada.plant();
  const wrong = await ada.delete('/api/account').send({ confirm: 'somebody' }).expect(400);
  expect(faultsOf(wrong)).toEqual(['confirm']);
  await ada.delete('/api/account').send({ confirm: ada.id }).expect(200);
  expectError(await ada.get('/api/plants'), 401, 'invalid_token');
  const { data } = service.app.exportsOf(accountsPlugin);
  await until(async () => (await data.counts(ada.id)) === undefined);
});
