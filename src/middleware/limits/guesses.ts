import type { Middleware } from 'koa';

import { ApiError, type ErrorCode } from '../../core/errors';
import type { RateLimits } from './rate-limits';

/**
 * Limits the guesses of an address at a secret: each wrong one spends a failed authentication.
 *
 * @param wrong the error for a wrong secret
 * @throws ApiError rate_limited
 */
export function guesses(wrong: ErrorCode, { rateLimits }: { rateLimits: RateLimits }): Middleware {
  return async function guesses(ctx, next) {
    await rateLimits.refuseSpent(ctx);
    try {
      await next();
    } catch (error) {
      if (error instanceof ApiError && error.kind === wrong)
        await rateLimits.authFailures.spend(ctx);
      throw error;
    }
  };
}
