import { createHash } from 'node:crypto';

import { decodePlace, encodePlace } from '../../core/cursor';
import { invalidCursor } from '../../core/errors';
import { PIECE_LENGTH } from '../../core/text/json-array';
import { yieldToEventLoop } from '../../core/async/event-loop';
import { isAsyncIterable, isRecord } from '../../core/values';
import type { ListPart } from '../../plugins/protocol-endpoint';

/** What `hasMore` and `nextCursor` take of a part, at most, in UTF-16 code units. */
const MAX_ENDING = 500;
const MARK_LENGTH = 12;

/** What a list is of: cursors are good for the same only. */
type ListIdentity = readonly unknown[];

interface Reading {
  list: ListIdentity;
  /** Reads a page again, of fewer items. */
  readPage: (limit: number) => Promise<unknown>;
}

/**
 * What a read answered, as far as it has a place in the part that is wanted. A page stays one, with
 * fewer items; of other lists see {@link cut}.
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
    // Others may have written meanwhile.
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
  /** How long the part may be as JSON, in UTF-16 code units; it has one item, however long that is. */
  maxLength: number;
  /** The mark of the item behind which it begins; that of the first part is undefined. */
  after: string | undefined;
  /** Makes the cursor of what is behind the item with this mark. */
  cursorAfter: (mark: string) => string;
}

/**
 * A part of an answer that is a list, which becomes `items`, or an object with lists, of which one
 * comes after the other; what else is in that is in every part. Where there is more behind the part,
 * `hasMore` says so, and `nextCursor` is the cursor of the next.
 *
 * A cursor is behind an item as that was shown. Where this is gone, or another by now, there is no
 * next part: nobody here knows the order of the list, and so from where on nothing is missed.
 *
 * @returns undefined where the item is not there behind which the part begins
 */
export async function cut(
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

/** A mark, and what else there is in a text that begins with one. */
export function splitMark(place: string): { mark: string; rest: string } {
  return { mark: place.slice(0, MARK_LENGTH), rest: place.slice(MARK_LENGTH) };
}

/** Tells an item from all others of an answer, and from what it becomes by a change. */
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

/** How many of the first items of a page there is a place for. */
function fitting({ items }: AnyPage, maxLength: number): number {
  let left = maxLength - MAX_ENDING;
  const tooMany = items.findIndex((item) => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return tooMany === -1 ? items.length : Math.max(tooMany, 1);
}
