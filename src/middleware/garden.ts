import type { Context, Middleware } from 'koa';
import type { ClientSession } from 'mongoose';

import { gardenNotFound } from '../core/errors';
import { requireRole } from '../core/gardens';
import type { Gardens } from '../core/identity';
import type { MongoHealth } from '../data/mongodb/mongo-health';
import type { Operation } from '../plugins/operation';
import { memberScopes } from '../plugins/operation-facts';
import { callerOf } from './state';

interface Dependencies {
  gardens: Gardens | undefined;
  mongo: MongoHealth;
}

/**
 * Finds the garden that the header Garden names. Without the header the call is for the garden to which the
 * token is bound, otherwise for the caller's own.
 *
 * @throws ApiError garden_not_found unless the caller is let in at this moment, or for another garden than
 *   that of the token
 */
export function garden(
  { of }: Pick<Operation, 'of'>,
  { gardens, mongo }: Dependencies,
): Middleware {
  const step: Middleware = async (ctx, next) => {
    const { account, token, garden: bound } = callerOf(ctx);
    const usual = token.garden?.owner ?? account.id;
    const id = ctx.headers['garden'] === undefined ? usual : idIn(ctx);
    if (token.garden && id !== usual) throw gardenNotFound.error();
    if (id !== account.id) {
      const find = async () => {
        // A tool call has waited for its body since the token was checked.
        if (bound) return bound.again();
        return id === undefined ? undefined : gardens?.find(id, account.id);
      };
      const found = await mongo.failFast(find);
      if (!found) throw gardenNotFound.error();
      ctx.state[of === 'member' ? 'within' : 'garden'] = found;
      found.recordUse();
    }
    await next();
  };
  // Shown by `audit routes`.
  const value = of === 'person' ? 'ownGarden' : 'garden';
  return Object.defineProperty(step, 'name', { value });
}

/**
 * Finds the garden of a write once more, in its transaction: the membership may have ended, or its role changed,
 * while the body arrived.
 *
 * @throws ApiError garden_not_found, or insufficient_scope
 */
export async function enterAgain(
  operation: Operation,
  { state }: Context,
  session: ClientSession,
): Promise<void> {
  const name = state.within ? 'within' : 'garden';
  const before = state[name];
  if (!before) return;
  const found = await before.again(session);
  if (!found) throw gardenNotFound.error();
  state[name] = found;
  requireRole(found, memberScopes(operation));
}

/** The id in the header, percent-encoded beyond ASCII; undefined if there are several. */
function idIn({ req }: Context): string | undefined {
  const [id = '', ...more] = req.headersDistinct['garden'] ?? [];
  if (more.length > 0) return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
