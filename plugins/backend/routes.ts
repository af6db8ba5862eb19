import Joi from 'joi';

import { decodePosition, encodePosition } from '../../src/core/cursor';
import { fieldError, invalidCursor } from '../../src/core/errors';
import type { Account } from '../../src/core/identity';
import { TextStream } from '../../src/core/http/content';
import type { Tenant } from '../../src/data/model/models';
import { success } from '../../src/fields/joi';
import { pageOf } from '../../src/data/page';
import { type Operation, put, read, remove, write } from '../../src/plugins/operation';
import {
  type Accounts,
  newToken,
  ownTokens,
  personalScopes,
  tokenLimitReached,
  tokenNotFound,
  usualScopes,
} from '../accounts';
import { common } from './common';
import {
  accountNotFound,
  accountPage,
  accountSchema,
  createToken,
  invalidAccountId,
  listAccounts,
  putAccount,
  viewOf,
} from './schema';

/** Distinguishes cursors of this list from others. */
const LIST = ['accounts'];

const one = { ...common, account: 'id', params: { id: accountNotFound } } as const;
const notCacheable = "it concerns accounts other than the caller's";

/** Operations on accounts for a backend (docs/api.md, "A trusted backend"). */
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
        'By id. An account that exists throughout is listed exactly once. Accounts that are being deleted are left out, and so are those whose ids cannot appear in a path.',
      operationId: 'listAccounts',
      notCacheable,
      query: listAccounts,
      response: { schema: accountPage, description: 'A page of accounts' },
      handler: async ({ query: { limit, cursor } }) => {
        const after = cursor === undefined ? '' : decodePosition(LIST, cursor);
        if (after === undefined) throw invalidCursor.error();
        return pageOf(
          { found: await accounts.lists.accountsAfter(after, limit + 1), limit },
          async function* (found) {
            yield Array.from(found, viewOf);
          },
          ({ id }) => encodePosition(LIST, id),
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
      summary: 'Create or change an account',
      description:
        'Fields that are left out do not change. It can be repeated: the account is created once. While an account of this id is being deleted, the response is 503.',
      operationId: 'putAccount',
      body: putAccount,
      response: { schema: accountSchema, description: 'The account, changed' },
      handler: async ({ params, body, acting, made }) => {
        const { account, isNew } = await accounts.putAccount(params.id, body, acting);
        if (isNew) made();
        return viewOf(account);
      },
    }),
    remove({
      ...one,
      path: '/api/accounts/{id}',
      summary: 'Delete an account and all of its data',
      description:
        'Its tokens are refused from the next request on; its records are deleted soon after. This cannot be undone.',
      operationId: 'deleteAccountById',
      readsAll: 'it counts what will be deleted',
      handler: ({ tx }) => accounts.data.close(tx),
    }),
    read({
      ...one,
      path: '/api/accounts/{id}/tokens',
      summary: 'List the valid tokens of an account',
      operationId: 'listAccountTokens',
      notCacheable,
      response: { schema: ownTokens, description: 'The tokens, oldest first' },
      handler: async ({ params, tenant }) => {
        await person(params.id, tenant);
        return { items: await accounts.tokens.validTokens(params.id) };
      },
    }),
    write({
      ...one,
      method: 'POST',
      path: '/api/accounts/{id}/tokens',
      summary: 'Create a token for an account',
      description:
        'It expires no later than the token of the backend, and is shown only once: a repeat under the same Idempotency-Key is 409 with its id.',
      operationId: 'createAccountToken',
      body: createToken,
      secret: 'token',
      response: { schema: newToken, description: 'The token' },
      errors: [tokenLimitReached],
      handler: async ({ tx, token, body }) => {
        const wanted = body.scopes ?? usualScopes(scopes);
        const known = personalScopes(scopes);
        if (!wanted.every((scope) => known.includes(scope))) {
          throw fieldError('scopes', `scopes must be among ${known.join(', ')}.`);
        }
        return accounts.tokens.makeOwn(tx, { ...body, scopes: wanted, endsBy: token.endsBy });
      },
    }),
    write({
      ...one,
      method: 'DELETE',
      path: '/api/accounts/{id}/tokens',
      summary: 'Revoke all tokens of an account, from the next request on',
      description: 'Those of apps that the person has authorized are revoked too.',
      operationId: 'deleteAccountTokens',
      response: { schema: success, description: 'The tokens are revoked' },
      handler: async ({ tx }) => {
        await accounts.tokens.revokeAll(tx);
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
        if (!(await accounts.tokens.revokeOwn(tx, params.token))) throw tokenNotFound.error();
      },
    }),
    read({
      ...one,
      path: '/api/accounts/{id}/export',
      summary: 'Export all data of an account',
      description: 'The same as the command `user export` prints.',
      operationId: 'exportAccountById',
      isExport: true,
      notConditional: 'it is created while it is sent',
      readsAll: 'it contains everything',
      response: { schema: Joi.object().unknown(), description: 'Everything, as one object' },
      handler: async ({ params, tenant, acting }) => {
        await person(params.id, tenant);
        const pieces = await accounts.data.exportUser(params.id, acting);
        if (!pieces) throw accountNotFound.error();
        return new TextStream('application/json', pieces);
      },
    }),
  ];
}
