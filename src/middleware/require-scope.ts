import type { Middleware } from 'koa';

import { insufficientScope } from '../core/errors';
import { callerOf } from './state';

/** Lets in who holds a token with the scope (docs/specification.md, 5), else insufficient_scope. */
export function requireScope(scope: string): Middleware {
  return async function requireScope(ctx, next) {
    if (!callerOf(ctx).scopes.has(scope)) {
      throw insufficientScope.error(`The token lacks the scope ${scope}.`, {
        headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
      });
    }
    await next();
  };
}
