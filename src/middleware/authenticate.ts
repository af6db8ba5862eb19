import type { Context, Middleware } from 'koa';

import { type ApiError, invalidToken, unauthorized } from '../core/errors';
import {
  type Authenticator,
  bearerToken,
  type CallSource,
  type Principal,
  type TokenFault,
} from '../core/identity';
import type { Acting } from '../data/audit/entry';
import { clientBudget, type RateLimits } from './limits/rate-limits';
import { callerOf } from './state';

interface Dependencies {
  identity: Authenticator;
  rateLimits: RateLimits;
}

/**
 * Requires a token in the Authorization header; one in the query string is never read.
 *
 * @throws ApiError unauthorized, or rate_limited
 */
export function requireToken({ rateLimits }: Pick<Dependencies, 'rateLimits'>): Middleware {
  return async function requireToken(ctx, next) {
    if (tokenOf(ctx) === undefined) await refuse(ctx, rateLimits);
    await next();
  };
}

/**
 * Requires that the token is valid.
 *
 * Once an address has spent its budget of failures, its tokens are no longer looked up in the
 * database: only tokens that this process has cached are accepted.
 *
 * @throws ApiError invalid_token, or rate_limited
 */
export function authenticate({ identity, rateLimits }: Dependencies): Middleware {
  return async function authenticate(ctx, next) {
    const found = await look(ctx, tokenOf(ctx) ?? '');
    if (!isPrincipal(found)) return refuse(ctx, rateLimits, found);
    ctx.state.principal = found;
    await next();
  };

  async function look(ctx: Context, token: string): Promise<Principal | TokenFault> {
    const lookUp = !rateLimits.authFailures.isSpent(clientBudget(ctx));
    const found = await identity.authenticate(token, { lookUp, source: sourceOf(ctx) });
    if (!isPrincipal(found) || found.onlyAt === undefined) return found;
    return [found.onlyAt, `${found.onlyAt}/`].includes(ctx.path) ? found : 'elsewhere';
  }
}

function tokenOf(ctx: Context): string | undefined {
  return bearerToken(ctx.get('Authorization'));
}

/** @param fault undefined without a token */
async function refuse(ctx: Context, limits: RateLimits, fault?: TokenFault): Promise<never> {
  const refusal = refusalOf(fault);
  const { client, log } = ctx.state;
  // Programs that ban addresses read this very line (deploy/fail2ban/).
  log.warn({ client, code: refusal.kind.code }, 'Authentication failed');
  await limits.authFailures.spend(ctx);
  throw refusal;
}

function isPrincipal(found: Principal | TokenFault): found is Principal {
  return typeof found === 'object';
}

/** Only the holder of a genuine token can learn what is wrong with it. */
const GENUINE = {
  revoked: 'The token was revoked.',
  expired: 'The token has expired.',
  early: 'The token is not valid yet; the clock of its issuer may be ahead.',
  foreign: 'The token is for another audience.',
  closed: 'The token is for a garden that is no longer open to its holder.',
  elsewhere: 'The token is only valid for the tool endpoint.',
};

export function refusalOf(fault: TokenFault | undefined): ApiError {
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
  const { account, token, isSession, isSitter } = callerOf(ctx);
  const { garden } = ctx.state;
  const where = garden && { garden: garden.account.id };
  const person = { account: account.id, ...where };
  const actor: Acting['actor'] = isSitter
    ? { type: 'sitter', member: account.id }
    : isSession
      ? { type: 'person', ...person }
      : { type: 'token', ...person, token: token.id };
  return { actor, source: sourceOf(ctx), by: garden?.by };
}
