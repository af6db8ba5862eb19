import type { Context } from 'koa';

import { invalidToken, unauthorized } from '../core/errors';
import type { Authenticator, Principal } from '../core/identity';
import type { RateLimiter } from '../calls/rate-limit';
import { AUTH_FAILURES } from '../core/host-settings';

/** The token of an `Authorization: Bearer` header; the scheme's case does not matter. */
export function bearerToken(ctx: Context): string | undefined {
  return /^bearer +(\S+)$/i.exec(ctx.get('Authorization').trim())?.[1];
}

/**
 * Who calls, by the header alone; a token in the query string is never read.
 *
 * @throws ApiError unauthorized without a token, invalid_token with one that is not good,
 *   rate_limited where an address keeps trying
 */
export async function authenticate(
  ctx: Context,
  identity: Authenticator,
  limiter: RateLimiter,
): Promise<Principal> {
  const token = bearerToken(ctx);
  if (token === undefined) {
    throw unauthorized.error(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  const principal = await identity.authenticate(token);
  if (principal) return principal;
  await limiter.spend(AUTH_FAILURES, ctx.ip, ctx);
  throw invalidToken.error(undefined, {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}
