import { isIPv6 } from 'node:net';

import type { Context } from 'koa';

import { invalidToken, unauthorized } from '../core/errors';
import type { Authenticator, CallSource, Principal } from '../core/identity';
import type { RateLimiter } from '../calls/rate-limit';
import { AUTH_FAILURES } from '../core/host-settings';

/** The token of an `Authorization: Bearer` header; the scheme's case does not matter. */
function bearerToken(ctx: Context): string | undefined {
  return /^bearer +(\S+)$/i.exec(ctx.get('Authorization').trim())?.[1];
}

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
): Promise<Principal> {
  const token = bearerToken(ctx);
  const client = clientOf(ctx.ip);
  if (token !== undefined) {
    const lookUp = !limiter.isSpent(AUTH_FAILURES, client);
    const principal = await identity.authenticate(token, { lookUp, source: sourceOf(ctx) });
    if (principal) return principal;
  }
  await limiter.spend(AUTH_FAILURES, client, ctx);
  if (token === undefined) {
    throw unauthorized.error(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  throw invalidToken.error(undefined, {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });
}

/** Where a request came from. */
export function sourceOf(ctx: Context): CallSource {
  // The first middleware has set the id.
  return { address: ctx.ip, requestId: ctx.response.get('X-Request-Id') };
}

/** Whose budget failures spend: an IPv4 address, or the /64 that one customer has of IPv6. */
function clientOf(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !isIPv6(ip)) return mapped ?? ip;
  // As URLs write it, so that different spellings are one.
  const [head = '', tail] = new URL(`http://[${ip.replace(/%.*$/, '')}]`).hostname
    .slice(1, -1)
    .split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
