import { setTimeout as sleep } from 'node:timers/promises';

import type { Context, Middleware } from 'koa';
import koaRateLimit from 'koa-ratelimit';

import { ApiError, rateLimited } from '../../core/errors';
import { REFUSAL_MS } from '../../core/http/request-limits';
import { clientBudget } from './client-address';
import { ExpiringMap, passes, WINDOW_SECONDS } from '../rate-limit';

/**
 * Limits the requests of an address that need no token, in the memory of this process.
 *
 * @param max requests a minute
 */
export function anonymousRateLimit(max: number): Middleware {
  const limit = limitOf(max);
  return async function anonymousRateLimit(ctx, next) {
    await limit(ctx);
    await next();
  };
}

/** Limits the requests of an address that are refused without a token, and its preflights. */
export function refusalRateLimit(max: number): Middleware {
  const limit = limitOf(max);
  return async function refusalRateLimit(ctx, next) {
    if (ctx.method === 'OPTIONS') await limit(ctx);
    try {
      await next();
    } catch (error) {
      const isCounted = error instanceof ApiError && error.status < 429 && !ctx.state.principal;
      if (isCounted) await limit(ctx);
      throw error;
    }
  };
}

function limitOf(max: number): (ctx: Context) => Promise<void> {
  const limit = koaRateLimit({
    driver: 'memory',
    db: new ExpiringMap(),
    duration: WINDOW_SECONDS * 1000,
    max,
    id: clientBudget,
    disableHeader: true,
  });
  return async (ctx) => {
    if (await passes(limit, ctx)) return;
    await sleep(REFUSAL_MS);
    throw rateLimited.error(undefined, { headers: { 'Retry-After': String(WINDOW_SECONDS) } });
  };
}
