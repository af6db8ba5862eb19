import type { Context, Middleware } from 'koa';
import type { ClientSession } from 'mongoose';

import { type ApiError, gardenNotFound } from '../core/errors';
import { requireRole } from '../core/gardens';
import type { Gardens } from '../core/identity';
import type { MongoHealth } from '../data/mongodb/mongo-health';
import type { Operation } from '../plugins/operation';
import { memberScopes } from '../plugins/operation-facts';
import { refusalOf } from './authenticate';
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
      const find = async () => (id === undefined ? undefined : gardens?.find(id, account.id));
      const found = bound ?? (await mongo.failFast(find));
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
 * Finds the garden once more, for a write in its transaction: the membership may have ended, or its role changed,
 * while the body arrived.
 *
 * @throws ApiError as {@link closed}, or insufficient_scope
 */
export async function enterAgain(
  operation: Pick<Operation, 'access' | 'of'>,
  ctx: Context,
  session?: ClientSession,
): Promise<void> {
  const { state } = ctx;
  const name = state.within ? 'within' : 'garden';
  const before = state[name];
  if (!before) return;
  const found = await before.again(session);
  if (!found) throw closed(ctx);
  state[name] = found;
  requireRole(found, memberScopes(operation));
}

/** The same for the garden to which the token is bound, before it is known what is called. */
export async function enterBoundAgain(ctx: Context): Promise<void> {
  const principal = callerOf(ctx);
  if (!principal.garden) return;
  principal.garden = await principal.garden.again();
  if (!principal.garden) throw closed(ctx);
}

/** The error for a garden that is closed: garden_not_found, or invalid_token if the token is bound to it. */
export function closed(ctx: Context): ApiError {
  return callerOf(ctx).token.garden ? refusalOf('closed') : gardenNotFound.error();
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
