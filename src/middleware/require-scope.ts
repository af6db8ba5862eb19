import type { Middleware } from 'koa';

import { insufficientScope } from '../core/errors';
import { callerOf } from './state';

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
