import { randomUUID } from 'node:crypto';

import type { Middleware } from 'koa';

import { decodePlace, encodePlace } from '../../core/cursor';
import { type ApiError, fieldError } from '../../core/errors';
import type { Operation } from '../../plugins/operation';
import { operationName } from '../../plugins/operation-facts';
import { cut, splitMark } from './list-part';
import { callerOf } from '../state';

/**
 * Responds to the tool call of a write with a part of its list. The write gets an Idempotency-Key, so
 * that its response is stored: a call with the cursor reads the rest of it without writing again.
 */
export function answerInParts(operation: Operation): Middleware {
  return async function answerInParts(ctx, next) {
    const { state } = ctx;
    const { params, body, part } = state.input;
    if (!part) {
      await next();
      return;
    }
    const list = [callerOf(ctx).account.id, operationName(operation), params, body];
    const place = part.cursor === undefined ? undefined : decodePlace(list, part.cursor);
    if (part.cursor !== undefined && place === undefined) throw badCursor();
    const sent = ctx.headers['idempotency-key'] as string | undefined; // Node joins repeats.
    const { mark: after, rest: key = sent ?? randomUUID() } =
      place === undefined ? {} : splitMark(place);
    state.idempotencyKey = key;
    if (after !== undefined) state.refuseWrite = badCursor();
    await next();
    const json = ctx.body as string;
    if (ctx.status >= 400 || (after === undefined && json.length <= part.maxLength)) return;
    const cursorAfter = (mark: string): string => encodePlace(list, mark + key);
    const shown = await cut(JSON.parse(json), { maxLength: part.maxLength, after, cursorAfter });
    if (!shown) throw badCursor();
    ctx.body = JSON.stringify(shown);
  };
}

/** Not invalid_cursor: without the cursor the same call would do it again. */
function badCursor(): ApiError {
  return fieldError(
    'cursor',
    'cursor must be the nextCursor of a recent call with the same arguments. A call with a cursor writes nothing.',
  );
}
