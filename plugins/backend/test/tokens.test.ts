import { randomUUID } from 'node:crypto';

import { records } from '../../../test/support/client';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { backendOf, newId } from '../../../test/support/backend';

const PHONE = { name: 'Phone', scopes: ['plants:read'], expiresIn: 600 };

let service: TestService;
let shop: TestUser;
let id: string;
let path: string;

beforeAll(async () => {
  service = await startService();
  shop = await backendOf(service, 'tokens');
});
beforeEach(async () => {
  id = newId();
  path = `/api/accounts/${id}`;
  await shop.put(path).expect(201);
});
afterAll(() => service.close());

async function make(fields: object = {}) {
  const made = bodyOf(await shop.post(`${path}/tokens`, { ...PHONE, ...fields }).expect(201));
  return { id: String(made['id']), user: userOf(service.url, id, String(made['token'])), made };
}

async function listed(): Promise<string[]> {
  const { items } = bodyOf(await shop.get(`${path}/tokens`).expect(200));
  return records(items).map((token) => String(token['id']));
}

test('a backend creates, lists and revokes tokens of an account', async () => {
  const [first, second, third] = [await make(), await make(), await make()];
  expect(await listed()).toEqual([first.id, second.id, third.id]);
  await first.user.get('/api/plants').expect(200);
  expectError(await first.user.post('/api/plants', { name: 'Fern' }), 403, 'insufficient_scope');
  await shop.delete(`${path}/tokens/${first.id}`).expect(200);
  expectError(await first.user.get('/api/plants'), 401, 'invalid_token');
  expectError(await shop.delete(`${path}/tokens/${first.id}`), 404, 'token_not_found');
  await shop.delete(`${path}/tokens`).expect(200);
  await shop.delete(`${path}/tokens`).expect(200);
  for (const { user } of [second, third])
    expectError(await user.get('/api/plants'), 401, 'invalid_token');
  expect(await listed()).toEqual([]);
});

test('a token belongs to the account in the path, and to no other', async () => {
  const { id: token, user } = await make();
  const other = `/api/accounts/${newId()}`;
  await shop.put(other).expect(201);
  expectError(await shop.delete(`${other}/tokens/${token}`), 404, 'token_not_found');
  await user.get('/api/plants').expect(200);
  for (const wrong of ['nonsense', shop.id, '~tokens']) {
    expectError(await shop.delete(`${path}/tokens/${wrong}`), 404, 'token_not_found');
  }
});

test("a token expires no later than the backend's, and has the default scopes", async () => {
  const { made } = await make({ scopes: undefined, expiresIn: undefined });
  expect(made['scopes']).toEqual(
    [...service.app.scopes.keys()].filter((scope) => !/^account/.test(scope)),
  );
  expect(Date.parse(String(made['expiresAt']))).toBeLessThanOrEqual(Date.now() + 3_600_000);
  expect((await make({ scopes: ['account'] })).made).toMatchObject({ scopes: ['account'] });
});

test.each([
  [{ scopes: ['accounts:manage'] }, ['scopes']],
  [{ scopes: ['plants:eat'] }, ['scopes']],
  [{ scopes: [] }, ['scopes']],
  [{ name: '' }, ['name']],
  [{ expiresIn: 1 }, ['expiresIn']],
  [{ userId: 'ada' }, ['userId']],
])('a token with %j is refused and not created', async (fields, faults) => {
  const refused = await shop.post(`${path}/tokens`, { ...PHONE, ...fields }).expect(400);
  expect(faultsOf(refused)).toEqual(faults);
  expect(await listed()).toEqual([]);
});

test('16 concurrent creations, repeated as if their responses were lost, create each account and token once', async () => {
  const accounts = Array.from({ length: 48 }, () => ({ id: newId(), key: randomUUID() }));
  const queue = accounts.flatMap((account) => [account, account]);
  const tokens = new Map<string, Set<string>>();
  const statuses: number[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const at = `/api/accounts/${next.id}`;
      statuses.push((await shop.put(at, { tier: 'pro' })).status);
      const send = () => shop.post(`${at}/tokens`, PHONE).set('Idempotency-Key', next.key);
      const answers = [await send(), await send()];
      for (const answer of answers) {
        const known = tokens.get(next.id) ?? new Set();
        tokens.set(next.id, known);
        if (answer.status === 201) known.add(String(bodyOf(answer)['id']));
        else expectError(answer, 409, 'idempotency_conflict');
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  expect(statuses.filter((status) => status === 201)).toHaveLength(accounts.length);
  expect(statuses.filter((status) => status === 200)).toHaveLength(accounts.length);
  for (const account of accounts) {
    path = `/api/accounts/${account.id}`;
    expect(await listed()).toEqual([...(tokens.get(account.id) ?? [])]);
    expect(await listed()).toHaveLength(1);
  }
});

test('a revoked backend is refused from the next request on', async () => {
  const gone = await backendOf(service, 'gone');
  await gone.get('/api/accounts').expect(200);
  await service.app.exportsOf(accountsPlugin).tokens.revokeTokensOf('~gone');
  expectError(await gone.get('/api/accounts'), 401, 'invalid_token');
});
