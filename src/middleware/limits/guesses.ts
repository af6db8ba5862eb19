import type { Middleware } from 'koa';

import { ApiError, type ErrorCode } from '../../core/errors';
import { clientBudget, type RateLimits } from './rate-limits';

/**
 * Limits the guesses of an address at a secret: each wrong one spends a failed authentication.
 *
 * @param wrong the error for a wrong secret
 * @throws ApiError rate_limited
 */
export function guesses(
  wrong: ErrorCode,
  { rateLimits: { authFailures } }: { rateLimits: RateLimits },
): Middleware {
  return async function guesses(ctx, next) {
    if (authFailures.isSpent(clientBudget(ctx))) await authFailures.spend(ctx);
    try {
      await next();
    } catch (error) {
      if (error instanceof ApiError && error.kind === wrong) await authFailures.spend(ctx);
      throw error;
    }
  };
}
