import type { Middleware } from 'koa';

import { insufficientScope } from '../core/errors';
import { isBackend } from '../core/identity';
import { callerOf } from './state';

/** Refuses the token of a backend, which opens what its scope names and nothing else. */
export const refuseBackend: Middleware = async function refuseBackend(ctx, next) {
  if (isBackend(callerOf(ctx).account.id)) {
    throw insufficientScope.error(
      'The token is that of a backend, which has no data of its own; this takes the token of a person.',
    );
  }
  await next();
};
