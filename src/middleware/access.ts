import type { Context, Middleware } from 'koa';

import {
  type ApiError,
  invalidToken,
  unauthorized,
  insufficientScope,
  featureNotAvailable,
} from '../core/errors';
import {
  type Authenticator,
  bearerToken,
  type CallSource,
  type Principal,
  type TokenFault,
  isBackend,
} from '../core/identity';
import type { Acting } from '../data/audit/entry';
import type { MongoHealth } from '../data/mongodb/mongo-health';
import type { Feature } from '../plugins/operation';
import { clientBudget, type RateLimits } from './rate-limits';
import { callerOf } from './state';

interface Dependencies {
  identity: Authenticator;
  mongo: MongoHealth;
  rateLimits: RateLimits;
}

/**
 * Requires a valid token in the Authorization header; one in the query string is never read.
 *
 * Once an address has spent its budget of failures, its tokens are no longer looked up in the
 * database: only tokens that this process has cached are accepted.
 *
 * @throws ApiError unauthorized without a token, invalid_token, or rate_limited
 */
export function authenticate({ identity, mongo, rateLimits }: Dependencies): Middleware {
  const failures = rateLimits.authFailures;
  return async function authenticate(ctx, next) {
    const token = bearerToken(ctx.get('Authorization'));
    const found = token === undefined ? undefined : await look(ctx, token);
    if (!isPrincipal(found)) {
      const refusal = refusalOf(found);
      const { client, log } = ctx.state;
      // Programs that ban addresses read this very line (deploy/fail2ban/).
      log.warn({ client, code: refusal.kind.code }, 'Authentication failed');
      await failures.spend(ctx);
      throw refusal;
    }
    ctx.state.principal = found;
    await next();
  };

  async function look(ctx: Context, token: string): Promise<Principal | TokenFault> {
    const lookUp = !failures.isSpent(clientBudget(ctx));
    const found = await mongo.untilDown(() =>
      identity.authenticate(token, { lookUp, source: sourceOf(ctx) }),
    );
    if (!isPrincipal(found) || found.onlyAt === undefined) return found;
    return [found.onlyAt, `${found.onlyAt}/`].includes(ctx.path) ? found : 'elsewhere';
  }
}

function isPrincipal(found: Principal | TokenFault | undefined): found is Principal {
  return typeof found === 'object';
}

/** Only the holder of a genuine token can learn what is wrong with it. */
const GENUINE = {
  revoked: 'The token was revoked.',
  expired: 'The token has expired.',
  early: 'The token is not valid yet; the clock of its issuer may be ahead.',
  foreign: 'The token is for another audience.',
  elsewhere: 'The token is only valid for the tool endpoint.',
};

/** @param fault undefined without a token */
function refusalOf(fault: TokenFault | undefined): ApiError {
  if (fault === undefined) {
    return unauthorized.error(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  const why = fault === 'unknown' ? undefined : GENUINE[fault];
  const description = why === undefined ? '' : `, error_description="${why}"`;
  return invalidToken.error(why, {
    headers: { 'WWW-Authenticate': `Bearer error="invalid_token"${description}` },
  });
}

/** The source of a request. */
function sourceOf(ctx: Context): CallSource {
  // The first middleware has set the id.
  return { address: ctx.ip, requestId: ctx.response.get('X-Request-Id') };
}

/** The actor of a request, for the audit log. */
export function actingOf(ctx: Context): Acting {
  const { account, token } = callerOf(ctx);
  return {
    actor: { type: 'token', account: account.id, token: token.id },
    source: sourceOf(ctx),
  };
}

/** Requires a token with the scopes (docs/specification.md, 5). @throws ApiError insufficient_scope */
export function requireScope(...scopes: readonly string[]): Middleware {
  return async function requireScope(ctx, next) {
    const { scopes: held } = callerOf(ctx);
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
    const { tier } = callerOf(ctx).account;
    if (!tiers.includes(tier)) {
      throw featureNotAvailable.error(`The ${name} is not part of the ${tier} tier.`);
    }
    await next();
  };
}
