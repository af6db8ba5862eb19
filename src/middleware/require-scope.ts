import type { Middleware } from 'koa';

import { featureNotAvailable, insufficientScope } from '../core/errors';
import { requireRole, roleRefused } from '../core/gardens';
import { isBackend } from '../core/identity';
import type { Feature, Operation } from '../plugins/operation';
import { memberScopes, requiredScopes } from '../plugins/operation-facts';
import { callerOf, ownerOf } from './state';

/**
 * Requires a token with the scopes (docs/specification.md, 5) and, in the garden of another account, a
 * role that has them; no role has what is of the person.
 *
 * @throws ApiError insufficient_scope
 */
export function requireScope(operation: Operation): Middleware {
  const usual = requiredScopes(operation);
  const asMember = memberScopes(operation);
  return async function requireScope(ctx, next) {
    const { scopes: held } = callerOf(ctx);
    const { within, garden = within } = ctx.state;
    const scopes = garden ? asMember : usual;
    // Before the token, for which no other scopes would help.
    if (garden && operation.of === 'person') throw roleRefused(garden);
    requireRole(garden, scopes);
    const lacking = scopes.find((scope) => !held.has(scope));
    if (lacking !== undefined) {
      throw insufficientScope.error(`The token lacks the scope ${lacking}.`, {
        headers: {
          'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`,
        },
      });
    }
    await next();
  };
}

/** Refuses the token of a backend, which is valid only for operations that name its scope. */
export const refuseBackend: Middleware = async function refuseBackend(ctx, next) {
  if (isBackend(callerOf(ctx).account.id)) {
    throw insufficientScope.error(
      'This operation needs the token of a person; a backend has no data of its own.',
    );
  }
  await next();
};

/** Requires a tier that has the feature. @throws ApiError feature_not_available */
export function requireTier({ name, tiers }: Feature): Middleware {
  return async function requireTier(ctx, next) {
    const { tier } = ownerOf(ctx);
    if (!tiers.includes(tier)) {
      throw featureNotAvailable.error(`The ${name} is not part of the ${tier} tier.`);
    }
    await next();
  };
}
