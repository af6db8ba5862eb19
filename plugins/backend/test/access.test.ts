import { rpc } from '../../../test/mcp/support';
import { records } from '../../../test/support/client';
import { CLIENT_METHODS, operationName, startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { backendOf } from '../../../test/support/backend';

// Other test files share the service, and some have an account ada.
const NOBODY = 'nobody-of-access-test';

let service: TestService;
let shop: TestUser;

beforeAll(async () => {
  service = await startService();
  shop = await backendOf(service, 'access');
});
afterAll(() => service.close());

/** Calls an operation with invalid input: authorization is checked first. */
function call(
  user: TestUser,
  { method, path }: { method: keyof typeof CLIENT_METHODS; path: string },
) {
  return user[CLIENT_METHODS[method]](path.replace(/\{\w+\}/g, NOBODY));
}

test("a backend's token opens its operations, and nothing else", async () => {
  const opened: string[] = [];
  for (const operation of service.app.operations) {
    const answer = await call(shop, operation);
    if (answer.status === 403) expectError(answer, 403, 'insufficient_scope');
    else opened.push(operationName(operation));
  }
  const own = service.app.operations.filter(({ path }) => /^\/api\/(accounts|webhooks)/.test(path));
  expect(own).toHaveLength(20);
  expect(opened).toEqual(own.map(operationName));
});

test("the tool endpoint refuses a backend's token", async () => {
  const answer = await shop.post('/api/mcp', rpc('tools/list'));
  expectError(answer, 403, 'insufficient_scope', /backend/);
});

test("a person with every other scope cannot call a backend's operations", async () => {
  const scopes = [...service.app.scopes.keys()].filter((scope) => scope !== 'accounts:manage');
  const ada = await service.user({ scopes });
  for (const operation of service.app.operations) {
    if (!/^\/api\/(accounts|webhooks)/.test(operation.path)) continue;
    expectError(await call(ada, operation), 403, 'insufficient_scope', /accounts:manage/);
  }
});

test('a request without a token is refused', async () => {
  expectError(await service.anonymous.get('/api/accounts'), 401, 'unauthorized');
  expectError(await service.anonymous.put('/api/accounts/ada').send({}), 401, 'unauthorized');
});

test("a person's token cannot create one for a backend, and no tool or list of scopes names its scope", async () => {
  const ada = await service.user();
  const wanted = { name: 'More', scopes: ['accounts:manage'] };
  expectError(await ada.post('/api/account/tokens', wanted), 403, 'insufficient_scope');
  const { scopes } = bodyOf(await service.anonymous.get('/api/mcp').expect(200));
  expect(scopes).not.toContain('accounts:manage');
  const tools = service.app.operations.filter(
    ({ access, tool }) => 'name' in tool && 'scope' in access && access.scope === 'accounts:manage',
  );
  expect(tools).toEqual([]);
});

test('a backend can neither name nor list itself', async () => {
  const path = `/api/accounts/${encodeURIComponent(shop.id)}`;
  expectError(await shop.get(path), 404, 'account_not_found');
  const { items } = bodyOf(await shop.get('/api/accounts?limit=100').expect(200));
  expect(records(items).filter(({ id }) => String(id).startsWith('~'))).toEqual([]);
});
