import supertest, { type Response } from 'supertest';

import { makeToken } from '../../plugins/accounts/tokens/token';
import type { Operation } from '../../src/plugins/operation';
import { keptConnections } from '../support/raw';
import type { TestService } from '../support/service';
import { bodyOf, expectError } from '../support/shapes';
import {
  accountsPlugin,
  Garden,
  CLIENT_METHODS,
  operationRows,
  requiredScopes,
  validRequest,
  startService,
} from '../support/program';

const USER = 'ada';

let service: TestService;
let garden: Garden;
let expired: string;
let revoked: string;

beforeAll(async () => {
  service = await startService();
  garden = new Garden(await service.user({ id: USER }));
  const all = [...service.app.scopes.keys()];
  expired = (await tokenWith(all, -1)).token;
  const { token, view } = await tokenWith(all);
  await service.app.exportsOf(accountsPlugin).tokens.revokeToken(view.id);
  revoked = token;
});
afterAll(() => service.close());

/** Valid tokens by their scopes. */
const validTokens = new Map<string, Promise<string>>();

function goodToken(scopes: readonly string[]): Promise<string> {
  const known = validTokens.get(scopes.join());
  if (known) return known;
  const made = tokenWith(scopes).then(({ token }) => token);
  validTokens.set(scopes.join(), made);
  return made;
}

async function tokenWith(scopes: readonly string[], expiresInSeconds = 3600) {
  const accounts = service.app.exportsOf(accountsPlugin);
  const wanted = { userId: USER, tier: 'pro' as const, scopes: [...scopes], name: 'test' };
  return accounts.tokens.createToken({ ...wanted, expiresInSeconds });
}

/** Calls an operation with a valid request, except for the header Authorization. */
async function call(operation: Operation, authorization?: string, query = ''): Promise<Response> {
  const request = validRequest(operation, await garden.ids());
  const separator = request.path.includes('?') ? '&' : '?';
  const path = query === '' ? request.path : `${request.path}${separator}${query}`;
  const test = supertest(service.url)[CLIENT_METHODS[request.method]](path).agent(keptConnections);
  if (authorization !== undefined) test.set('Authorization', authorization);
  const response = await (request.body ? test.send(request.body) : test);
  if (response.status === operation.response.status) garden.called(operation);
  return response;
}

const rows = operationRows();

function expectRefused(response: Response, codes: readonly string[]): void {
  const code = String(bodyOf(response)['code']);
  expect(codes).toContain(code);
  expectError(response, 401, code);
  expect(response.headers['www-authenticate']).toMatch(
    /^Bearer (error="invalid_token", (error_description="The token (has expired|was revoked)\.", )?)?resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource", scope="[a-z: ]*plants:read [a-z: ]+"$/,
  );
}

test.each(rows)(
  '%s requires a valid token, which it never reads from the query',
  async (_name, operation) => {
    const all = [...service.app.scopes.keys()];
    const token = await goodToken(all);
    const query = ['access_token', 'token', 'bearer', 'authorization'].map(
      (key) => `${key}=${token}`,
    );
    expectRefused(await call(operation), ['unauthorized']);
    expectRefused(await call(operation, undefined, query.join('&')), ['unauthorized']);
    expectRefused(await call(operation, `Token ${token}`), ['unauthorized']);
    for (const each of [token.slice(0, -1), makeToken(), expired, revoked]) {
      expectRefused(await call(operation, `Bearer ${each}`), ['invalid_token']);
    }
  },
);

test('any other Authorization header gets 401', async () => {
  const [[, operation]] = rows as [(typeof rows)[number]]; // There are operations.
  const token = await goodToken([...service.app.scopes.keys()]);
  const malformed = [
    'Bearer',
    'Bearer ',
    token,
    `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`,
    `Bearer: ${token}`,
    `Bearer "${token}"`,
    `Bearer ${token} ${token}`,
    `Bearer ${token},`,
    `Bearer ${token}0`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token.slice('tnd_mcp_'.length)}`,
    'Bearer tnd_mcp_',
    'Bearer null',
    `Bearer ${'a'.repeat(4000)}`,
  ];
  for (const authorization of malformed) {
    expectRefused(await call(operation, authorization), ['unauthorized', 'invalid_token']);
  }
});

test.each(rows)('%s requires its scope, and no other', async (_name, operation) => {
  const all = [...service.app.scopes.keys()];
  const needed = requiredScopes(operation);
  const allBut = needed.map((scope) => all.filter((each) => each !== scope));
  for (const scopes of [[], all, needed, ...allBut]) {
    const response = await call(operation, `Bearer ${await goodToken(scopes)}`);
    const lacking = needed.find((each) => !scopes.includes(each));
    if (lacking === undefined) {
      expect({ scopes, status: response.status }).toEqual({
        scopes,
        status: operation.response.status,
      });
    } else {
      const why = new RegExp(`^The token lacks the scope ${lacking}\\.$`);
      expectError(response, 403, 'insufficient_scope', why);
      expect(response.headers['www-authenticate']).toBe(
        `Bearer error="insufficient_scope", scope="${needed.join(' ')}", resource_metadata="${service.url}/.well-known/oauth-protected-resource"`,
      );
    }
  }
});
