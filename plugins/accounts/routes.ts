import Joi from 'joi';

import { fieldError, insufficientScope } from '../../src/core/errors';
import type { HeldToken } from '../../src/core/identity';
import { TextStream } from '../../src/core/text/text-stream';
import { success } from '../../src/fields/joi';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { tokenLimitReached, tokenNotFound } from './errors';
import type { PersonalData } from './personal-data';
import { createToken, deleteAccount, newToken, ownTokens } from './schema';
import { ACCOUNT_SCOPE, MANAGE_SCOPE } from './scope';
import type { TokenService } from './tokens/service';

const access = { scope: ACCOUNT_SCOPE };
const tool = { none: 'what opens or ends an account is for people, not for assistants' };

/** Operations on the caller's own tokens and data (docs/api.md, "Tokens and data"). */
export function routes(tokens: TokenService, data: PersonalData): Operation[] {
  return [
    read({
      path: '/api/account/tokens',
      summary: 'List the good tokens of the account',
      operationId: 'listTokens',
      access,
      tool,
      notCacheable: 'the last use of a token is noted beside the writes of its account',
      response: { schema: ownTokens, description: 'The tokens, oldest first' },
      handler: async ({ account }) => ({ items: await tokens.goodTokens(account.id) }),
    }),
    write({
      method: 'POST',
      path: '/api/account/tokens',
      summary: 'Make a token',
      description:
        'A token has no scope that the one that makes it lacks, and ends no later. It is shown this once: a repeat under the same Idempotency-Key is answered with 409 and its id.',
      operationId: 'createToken',
      access,
      tool,
      body: createToken,
      secret: 'token',
      response: { schema: newToken, description: 'The token' },
      errors: [tokenLimitReached],
      handler: async ({ tx, token, body }) => {
        requireHeld(body.scopes, token);
        return tokens.makeOwn(tx, { ...body, endsBy: token.endsBy });
      },
    }),
    remove({
      path: '/api/account/tokens/{id}',
      summary: 'Revoke a token, from the next request on',
      operationId: 'deleteToken',
      access,
      tool,
      params: { id: tokenNotFound },
      handler: async ({ tx, params }) => {
        if (!(await tokens.revokeOwn(tx, params.id))) throw tokenNotFound.error();
      },
    }),
    read({
      path: '/api/account/export',
      summary: 'Export all that is stored of the account',
      description:
        'The same as the command `user export` prints: account, tokens without what opens them, the records of each collection, the audit log.',
      operationId: 'exportAccount',
      access,
      tool,
      notConditional: 'it is made while it is sent',
      readsAll: 'it has all that is stored',
      response: { schema: Joi.object().unknown(), description: 'All of it, as one object' },
      handler: async ({ account, acting }) => {
        const pieces = await data.exportUser(account.id, acting);
        if (!pieces) throw new Error('The account went while it was to be exported.');
        return new TextStream('application/json', pieces);
      },
    }),
    write({
      method: 'DELETE',
      path: '/api/account',
      summary: 'Delete the account and all that is stored of it',
      description:
        'For good. Its tokens are refused from the next request on; its records are deleted soon after.',
      operationId: 'deleteAccount',
      access,
      tool,
      body: deleteAccount,
      readsAll: 'it counts what is to be deleted',
      response: { schema: success, description: 'The account is closed' },
      handler: async ({ tx, body }) => {
        if (body.confirm !== tx.userId) {
          throw fieldError('confirm', 'confirm must be the userId of the account.');
        }
        await data.close(tx);
        return { success: true };
      },
    }),
  ];
}

/** @throws ApiError insufficient_scope where a token would permit more than the one that makes it */
function requireHeld(scopes: readonly string[], { scopes: held }: HeldToken): void {
  const lacking = scopes.find((scope) => !held.includes(scope) || scope === MANAGE_SCOPE);
  if (lacking === undefined) return;
  throw insufficientScope.error(`A token made by this one cannot permit ${lacking}.`);
}
