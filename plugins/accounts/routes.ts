import Joi from 'joi';

import { fieldError, gardenNotFound, insufficientScope } from '../../src/core/errors';
import { bindTo, requireRole } from '../../src/core/gardens';
import type { Binding, HeldToken } from '../../src/core/identity';
import { TextStream } from '../../src/core/http/content';
import { success } from '../../src/fields/joi';
import type { Host } from '../../src/plugins/host';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { tokenLimitReached, tokenNotFound } from './errors';
import type { PersonalData } from './personal-data';
import {
  ACCOUNT_SCOPE,
  createToken,
  deleteAccount,
  MANAGE_SCOPE,
  newToken,
  ownTokens,
} from './schema';
import type { TokenService } from './tokens/service';

const common = {
  of: 'person',
  access: { scope: ACCOUNT_SCOPE },
  tool: { none: 'people, not assistants, manage access to their account' },
} as const;

/** Operations on the caller's own tokens and data (docs/api.md, "Tokens and data"). */
export function routes(
  tokens: TokenService,
  data: PersonalData,
  { gardens }: Pick<Host, 'gardens'>,
): Operation[] {
  /** @throws ApiError garden_not_found; insufficient_scope for what the role of the person lacks there */
  const gardenFor = async (
    person: string,
    { garden: wanted, scopes }: { garden?: string; scopes: readonly string[] },
    { garden: own }: HeldToken,
  ): Promise<Binding | undefined> => {
    const owner = wanted ?? own?.owner;
    if (owner === undefined) return undefined;
    if (own && owner !== own.owner) throw gardenNotFound.error();
    const { garden, shared } = await bindTo(owner, person, gardens());
    requireRole(shared, scopes);
    return garden;
  };
  return [
    read({
      ...common,
      path: '/api/account/tokens',
      summary: 'List the valid tokens of the account',
      operationId: 'listTokens',
      notCacheable: 'the last use of a token is recorded without a write to its account',
      response: { schema: ownTokens, description: 'The tokens, oldest first' },
      handler: async ({ account }) => ({ items: await tokens.validTokens(account.id) }),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/account/tokens',
      summary: 'Create a token',
      description:
        'A token has no scope that the token which creates it lacks, and expires no later. One that an app creates ends when the access of the app does, and one for a garden of another when your membership does. It is shown only once: a repeat under the same Idempotency-Key is 409 with its id.',
      operationId: 'createToken',
      body: createToken,
      secret: 'token',
      response: { schema: newToken, description: 'The token' },
      errors: [tokenLimitReached, gardenNotFound],
      handler: async ({ tx, token, body }) => {
        requireHeld(body.scopes, token);
        const { endsBy, grant } = token;
        const garden = await gardenFor(tx.userId, body, token);
        return tokens.makeOwn(tx, { ...body, endsBy, grant, garden });
      },
    }),
    remove({
      ...common,
      path: '/api/account/tokens/{id}',
      summary: 'Revoke a token, from the next request on',
      operationId: 'deleteToken',
      params: { id: tokenNotFound },
      handler: async ({ tx, params }) => {
        if (!(await tokens.revokeOwn(tx, params.id))) throw tokenNotFound.error();
      },
    }),
    read({
      ...common,
      path: '/api/account/export',
      summary: 'Export all data of the account',
      description:
        'The same as the command `user export` prints: the account, its tokens without secrets, the records of each collection, and the audit log.',
      operationId: 'exportAccount',
      isExport: true,
      notConditional: 'it is created while it is sent',
      readsAll: 'it contains everything',
      response: { schema: Joi.object().unknown(), description: 'Everything, as one object' },
      handler: async ({ account, acting }) => {
        const pieces = await data.exportUser(account.id, acting);
        if (!pieces) throw new Error('The account was deleted while it was exported.');
        return new TextStream('application/json', pieces);
      },
    }),
    write({
      ...common,
      method: 'DELETE',
      path: '/api/account',
      summary: 'Delete the account and all of its data',
      description:
        'Its tokens are refused from the next request on; its records are deleted soon after. This cannot be undone.',
      operationId: 'deleteAccount',
      body: deleteAccount,
      readsAll: 'it counts what will be deleted',
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

/** @throws ApiError insufficient_scope if a token would have a scope that its creator lacks */
function requireHeld(scopes: readonly string[], { scopes: held }: HeldToken): void {
  const lacking = scopes.find((scope) => !held.includes(scope) || scope === MANAGE_SCOPE);
  if (lacking === undefined) return;
  throw insufficientScope.error(`This token cannot create one with the scope ${lacking}.`);
}
