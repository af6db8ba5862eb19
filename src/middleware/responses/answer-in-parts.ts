import { randomUUID } from 'node:crypto';

import type { Middleware } from 'koa';

import { decodePlace, encodePlace } from '../../core/cursor';
import { type ApiError, fieldError } from '../../core/errors';
import type { Operation } from '../../plugins/operation';
import { operationName } from '../../plugins/operation-facts';
import { cut, splitMark } from './list-part';
import { callerOf } from '../state';

/**
 * Answers with the part of a list that a tool asks for. The write has an Idempotency-Key, if need be
 * one of its own: so the response is stored, and a cursor reads the rest of it without doing anything
 * again.
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
    'cursor must be nextCursor of a call with the same other arguments, of the last days; with one nothing is done.',
  );
}
