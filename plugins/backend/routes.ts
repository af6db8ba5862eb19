import Joi from 'joi';

import { decodePlace, encodePlace } from '../../src/core/cursor';
import { fieldError, invalidCursor } from '../../src/core/errors';
import type { Account } from '../../src/core/identity';
import { TextStream } from '../../src/core/text/text-stream';
import type { Tenant } from '../../src/data/model/models';
import { success } from '../../src/fields/joi';
import { pageOf } from '../../src/data/page';
import { type Operation, put, read, remove, write } from '../../src/plugins/operation';
import {
  type Accounts,
  MANAGE_SCOPE,
  newToken,
  ownTokens,
  personalScopes,
  tokenLimitReached,
  tokenNotFound,
  usualScopes,
} from '../accounts';
import { accountNotFound, invalidAccountId } from './errors';
import {
  accountPage,
  accountSchema,
  createToken,
  listAccounts,
  putAccount,
  viewOf,
} from './schema';
import { adminPortSetting } from './settings';

/** What tells a cursor of the list from all others. */
const LIST = ['accounts'];

const common = {
  access: { scope: MANAGE_SCOPE },
  limit: 'backend',
  ownPort: adminPortSetting,
  tool: { none: 'accounts are kept by a backend, not by assistants' },
};
const one = { ...common, account: 'id', params: { id: accountNotFound } } as const;
const notCacheable = 'it is about other accounts than that of the caller';

/** Operations on the accounts of others (docs/api.md, "A trusted backend"). */
export function routes(accounts: Accounts, scopes: ReadonlyMap<string, string>): Operation[] {
  const person = async (id: string, { session }: Tenant): Promise<Account> => {
    const account = await accounts.person(id, session);
    if (!account) throw accountNotFound.error();
    return account;
  };
  return [
    read({
      ...common,
      path: '/api/accounts',
      summary: 'List the accounts of people',
      description:
        'By their ids. An account that is there throughout is listed exactly once, whatever is made and deleted meanwhile. Accounts that are being deleted are left out, as are those whose ids no path can name.',
      operationId: 'listAccounts',
      notCacheable,
      query: listAccounts,
      response: { schema: accountPage, description: 'A page of accounts' },
      handler: async ({ query: { limit, cursor } }) => {
        const after = cursor === undefined ? '' : decodePlace(LIST, cursor);
        if (after === undefined) throw invalidCursor.error();
        return pageOf(
          { found: await accounts.accountsAfter(after, limit + 1), limit },
          async function* (found) {
            yield Array.from(found, viewOf);
          },
          ({ id }) => encodePlace(LIST, id),
        );
      },
    }),
    read({
      ...one,
      path: '/api/accounts/{id}',
      summary: 'Get an account',
      operationId: 'getAccountById',
      notCacheable,
      response: { schema: accountSchema, description: 'The account' },
      handler: async ({ params, tenant }) => viewOf(await person(params.id, tenant)),
    }),
    put({
      ...one,
      params: { id: invalidAccountId },
      path: '/api/accounts/{id}',
      summary: 'Make an account, or change it',
      description:
        'What is left out stays as it is. It may be repeated: the account is made once. While an account of this id is being deleted, the answer is 503.',
      operationId: 'putAccount',
      body: putAccount,
      response: { schema: accountSchema, description: 'The account, changed' },
      handler: async ({ params, body, acting, made }) => {
        if (body.tierUntil !== undefined && body.tier === undefined) {
          throw fieldError('tierUntil', 'tierUntil must come with the tier that ends then.');
        }
        const { account, isNew } = await accounts.putAccount(params.id, body, acting);
        if (isNew) made();
        return viewOf(account);
      },
    }),
    remove({
      ...one,
      path: '/api/accounts/{id}',
      summary: 'Delete an account and all that is stored of it',
      description:
        'For good. Its tokens are refused from the next request on; its records are deleted soon after.',
      operationId: 'deleteAccountById',
      readsAll: 'it counts what is to be deleted',
      handler: ({ tx }) => accounts.close(tx),
    }),
    read({
      ...one,
      path: '/api/accounts/{id}/tokens',
      summary: 'List the good tokens of an account',
      operationId: 'listAccountTokens',
      notCacheable,
      response: { schema: ownTokens, description: 'The tokens, oldest first' },
      handler: async ({ params, tenant }) => {
        await person(params.id, tenant);
        return { items: await accounts.goodTokens(params.id) };
      },
    }),
    write({
      ...one,
      method: 'POST',
      path: '/api/accounts/{id}/tokens',
      summary: 'Make a token for an account',
      description:
        'It ends no later than the one that makes it, and is shown this once: a repeat under the same Idempotency-Key is answered with 409 and its id.',
      operationId: 'createAccountToken',
      body: createToken,
      secret: 'token',
      response: { schema: newToken, description: 'The token' },
      errors: [tokenLimitReached],
      handler: async ({ tx, token, body }) => {
        const wanted = body.scopes ?? usualScopes(scopes);
        const known = personalScopes(scopes);
        if (!wanted.every((scope) => known.includes(scope))) {
          throw fieldError('scopes', `scopes must be of ${known.join(', ')}.`);
        }
        return accounts.makeOwn(tx, { ...body, scopes: wanted, endsBy: token.endsBy });
      },
    }),
    write({
      ...one,
      method: 'DELETE',
      path: '/api/accounts/{id}/tokens',
      summary: 'Revoke all tokens of an account, from the next request on',
      operationId: 'deleteAccountTokens',
      response: { schema: success, description: 'They are revoked' },
      handler: async ({ tx }) => {
        await accounts.revokeAll(tx);
        return { success: true };
      },
    }),
    remove({
      ...one,
      path: '/api/accounts/{id}/tokens/{token}',
      summary: 'Revoke a token of an account, from the next request on',
      operationId: 'deleteAccountToken',
      params: { id: accountNotFound, token: tokenNotFound },
      handler: async ({ tx, params }) => {
        if (!(await accounts.revokeOwn(tx, params.token))) throw tokenNotFound.error();
      },
    }),
    read({
      ...one,
      path: '/api/accounts/{id}/export',
      summary: 'Export all that is stored of an account',
      description: 'The same as the command `user export` prints.',
      operationId: 'exportAccountById',
      notConditional: 'it is made while it is sent',
      readsAll: 'it has all that is stored',
      response: { schema: Joi.object().unknown(), description: 'All of it, as one object' },
      handler: async ({ params, tenant, acting }) => {
        await person(params.id, tenant);
        const pieces = await accounts.exportUser(params.id, acting);
        if (!pieces) throw accountNotFound.error();
        return new TextStream('application/json', pieces);
      },
    }),
  ];
}
