import type { Middleware } from 'koa';

import { insufficientScope } from '../core/errors';
import { isBackend } from '../core/identity';
import { callerOf } from './state';

/** Refuses the token of a backend, which is valid only for operations that name its scope. */
export const refuseBackend: Middleware = async function refuseBackend(ctx, next) {
  if (isBackend(callerOf(ctx).account.id)) {
    throw insufficientScope.error(
      'This operation needs the token of a person; a backend has no data of its own.',
    );
  }
  await next();
};
