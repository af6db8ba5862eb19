import type { Middleware } from 'koa';

import { ApiError, invalidCursor } from '../core/errors';
import type { Fence } from '../data/schema/fence';

/**
 * Responds 503 instead of 400 to a cursor that cannot be read once a newer release has migrated the data:
 * its servers may have made the cursor, and after a 400 clients start again from nothing.
 */
export function newerCursor({ fence }: { fence: Pick<Fence, 'look'> }): Middleware {
  return async function newerCursor(_ctx, next) {
    try {
      await next();
    } catch (error) {
      // Kinds of the same code differ in their sentence.
      if (error instanceof ApiError && error.kind.code === invalidCursor.code) await fence.look();
      throw error;
    }
  };
}
