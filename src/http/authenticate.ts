import type { Context } from 'koa';

import { type ApiError, invalidToken, unauthorized } from '../core/errors';
import {
  type AuthenticationOptions,
  type Authenticator,
  bearerToken,
  type CallSource,
  type Principal,
  type TokenFault,
} from '../core/identity';
import type { RateLimiter } from '../calls/rate-limit';
import { AUTH_FAILURES } from '../core/host-settings';
import { clientBudget } from './client-address';
import { factsOf } from './request-facts';

/**
 * Who calls, by the header alone; a token in the query string is never read.
 *
 * An address whose failures have used up their budget costs the database nothing more: of it only
 * tokens get in that this process has seen to be good.
 *
 * @throws ApiError unauthorized without a token, invalid_token with one that is not good,
 *   rate_limited where an address keeps trying
 */
export async function authenticate(
  ctx: Context,
  identity: Authenticator,
  limiter: RateLimiter,
  onClaim?: AuthenticationOptions['onClaim'],
): Promise<Principal> {
  const facts = factsOf(ctx);
  const token = bearerToken(ctx.get('Authorization'));
  const client = clientBudget(ctx);
  let fault: TokenFault | undefined;
  if (token !== undefined) {
    const lookUp = !limiter.isSpent(AUTH_FAILURES, client);
    const source = sourceOf(ctx);
    const found = await identity.authenticate(token, { lookUp, source, onClaim });
    if (typeof found !== 'string') {
      facts.principal = found;
      return found;
    }
    fault = found;
  }
  const refusal = refusalOf(fault);
  const { code } = refusal.kind;
  // Programs that ban addresses read this very line (deploy/fail2ban/).
  facts.log.warn({ client: facts.client, code }, 'Authentication failed');
  await limiter.spend(AUTH_FAILURES, client, ctx);
  throw refusal;
}

/** What was wrong with a token that was good once only its holder can learn: nobody else has it. */
const ONCE_GOOD = { revoked: 'The token was revoked.', expired: 'The token has expired.' };

/** @param fault undefined where there is no token */
function refusalOf(fault: TokenFault | undefined): ApiError {
  if (fault === undefined) {
    return unauthorized.error(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  const why = fault === 'unknown' ? undefined : ONCE_GOOD[fault];
  const description = why === undefined ? '' : `, error_description="${why}"`;
  return invalidToken.error(why, {
    headers: { 'WWW-Authenticate': `Bearer error="invalid_token"${description}` },
  });
}

/** Where a request came from. */
export function sourceOf(ctx: Context): CallSource {
  // The first middleware has set the id.
  return { address: ctx.ip, requestId: ctx.response.get('X-Request-Id') };
}
