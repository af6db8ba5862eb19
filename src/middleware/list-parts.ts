import { createHash, randomUUID } from 'node:crypto';

import type { Middleware } from 'koa';

import { decodePlace, encodePlace } from '../core/cursor';
import { invalidCursor, type ApiError, fieldError } from '../core/errors';
import { PIECE_LENGTH } from '../core/text/json';
import { yieldToEventLoop } from '../core/async';
import { isAsyncIterable, isRecord } from '../core/values';
import type { ListPart } from '../plugins/protocol-endpoint';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import { callerOf } from './state';

/** Room for `hasMore` and `nextCursor`, in UTF-16 code units. */
const MAX_ENDING = 500;
const MARK_LENGTH = 12;

/** Identifies a list: a cursor is valid for the same list only. */
type ListIdentity = readonly unknown[];

interface Reading {
  list: ListIdentity;
  /** Reads the page again with fewer items. */
  readPage: (limit: number) => Promise<unknown>;
}

/**
 * Returns the requested part of a response. A page becomes a page with fewer items; for other lists
 * see {@link cut}.
 *
 * @throws ApiError invalid_cursor
 */
export async function partOfRead(
  answer: unknown,
  { maxLength, cursor }: ListPart,
  { list, readPage }: Reading,
): Promise<unknown> {
  if (isPage(answer)) {
    const limit = fitting(answer, maxLength);
    if (limit === answer.items.length) return answer;
    // Its items may have changed meanwhile.
    const shorter = await readPage(limit);
    return partOfRead(shorter, { maxLength }, { list, readPage });
  }
  const after = cursor === undefined ? undefined : decodePlace(list, cursor);
  if (cursor !== undefined && after === undefined) throw invalidCursor.error();
  const cursorAfter = (mark: string): string => encodePlace(list, mark);
  const part = await cut(answer, { maxLength, after, cursorAfter });
  if (!part) throw invalidCursor.error();
  return part;
}

interface Cut {
  /** The maximum length as JSON, in UTF-16 code units; there is always one item. */
  maxLength: number;
  /** The mark of the item before the part; undefined for the first part. */
  after: string | undefined;
  /** Makes the cursor of the part after the item with this mark. */
  cursorAfter: (mark: string) => string;
}

/**
 * Returns a part of a list, as `items`, or of an object with lists, one list after the other; the other
 * members are in every part. If there are more items, the part has `hasMore` and `nextCursor`.
 *
 * A cursor marks an item by its content. Once that item is deleted or changed there is no next part,
 * since the order of the list is not known here.
 *
 * @returns undefined if the item before the part is not found
 */
async function cut(
  answer: unknown,
  { maxLength, after, cursorAfter }: Cut,
): Promise<object | undefined> {
  const whole = isRecord(answer) && !isAsyncIterable(answer) ? answer : { items: answer };
  const lists = Object.entries(whole).filter(
    ([, value]) => isAsyncIterable(value) || Array.isArray(value),
  );
  const part = { ...whole, ...Object.fromEntries(lists.map(([name]) => [name, [] as unknown[]])) };
  let length = JSON.stringify(part).length + MAX_ENDING;
  let isReached = after === undefined;
  let last: string | undefined;
  for (const [name, list] of lists) {
    const items: unknown[] = [];
    Object.assign(part, { [name]: items });
    let skipped = 0;
    for await (const item of itemsOf(list)) {
      const text = JSON.stringify(item);
      if (!isReached) {
        isReached = markOf(name, text) === after;
        skipped += text.length;
        if (skipped < PIECE_LENGTH) continue;
        skipped = 0;
        await yieldToEventLoop();
        continue;
      }
      length += text.length + 1;
      if (last !== undefined && length > maxLength) {
        return { ...part, hasMore: true, nextCursor: cursorAfter(last) };
      }
      items.push(item);
      last = markOf(name, text);
    }
  }
  return isReached ? part : undefined;
}

/** Splits a text that begins with a mark. */
function splitMark(place: string): { mark: string; rest: string } {
  return { mark: place.slice(0, MARK_LENGTH), rest: place.slice(MARK_LENGTH) };
}

/** Identifies an item of a response by its content. */
function markOf(list: string, item: string): string {
  return createHash('sha256').update(`${list} ${item}`).digest('base64url').slice(0, MARK_LENGTH);
}

async function* itemsOf(list: unknown): AsyncGenerator {
  if (isAsyncIterable(list)) for await (const batch of list) yield* batch;
  else if (Array.isArray(list)) yield* list;
}

/** A page of a list with cursors of its own. */
interface AnyPage {
  items: unknown[];
  nextCursor: unknown;
}

function isPage(answer: unknown): answer is AnyPage {
  return isRecord(answer) && Array.isArray(answer['items']) && 'nextCursor' in answer;
}

/** How many items of a page fit; at least one. */
function fitting({ items }: AnyPage, maxLength: number): number {
  let left = maxLength - MAX_ENDING;
  const tooMany = items.findIndex((item) => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return tooMany === -1 ? items.length : Math.max(tooMany, 1);
}

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
