import { createHash } from 'node:crypto';

import { yieldToEventLoop } from '../core/async';
import { decodePosition, encodePosition } from '../core/cursor';
import { invalidCursor } from '../core/errors';
import { isAsyncIterable, isRecord } from '../core/values';
import type { Page } from '../fields/page';
import type { PageInput } from './state';

/** Room for `hasMore` and `nextCursor`, in UTF-16 code units. */
const MAX_ENDING = 800;
const MARK = /[\w-]{5}/g;
const POSITION = new RegExp(`^(\\d{1,9})\\.((?:${MARK.source})+)$`);
const MARK_LENGTH = 5;
/** A cursor marks the items of its page, and some before them if these are few. */
const MIN_MARKS = 8;
const MAX_MARKS = 100;
/** Items per turn of the event loop. */
const TURN = 500;

interface Reading {
  /** Identifies the list: a cursor is valid for the same list only. */
  list: readonly unknown[];
  /** The fields of an item that identify it and determine its position in the list. */
  itemKey: readonly string[];
  /** Reads the page again with fewer items. */
  readPage: (limit: number) => Promise<unknown>;
}

/**
 * Returns a page of a response that is short enough for its caller: of a list with pages of its own, a page
 * with fewer items; of an array, or an object with `items`, the items after the cursor.
 *
 * @throws ApiError invalid_cursor
 */
export async function pageOfRead(
  result: unknown,
  { maxLength, limit, cursor }: PageInput,
  { list, itemKey, readPage }: Reading,
): Promise<object> {
  if (isPage(result)) {
    const fitting = countFitting(result, maxLength);
    if (fitting === result.items.length) return result;
    // Its items may have changed meanwhile.
    const shorter = await readPage(fitting);
    return pageOfRead(shorter, { maxLength, limit }, { list, itemKey, readPage });
  }
  const whole = isRecord(result) && !isAsyncIterable(result) ? result : { items: result };
  const after = cursor === undefined ? undefined : positionOf(list, cursor);
  const others = JSON.stringify({ ...whole, items: [] }).length;
  const reader = new PageReader(after, { limit, maxLength: maxLength - others - MAX_ENDING });
  for await (const item of itemsOf(whole['items'])) {
    if (!reader.read(item, markOf(item, itemKey))) break;
  }
  const { items, next } = reader;
  return {
    ...whole,
    items,
    hasMore: next !== undefined,
    nextCursor: next ? encodePosition(list, `${next.index}.${next.marks.join('')}`) : null,
  };
}

/** A position in a list that may have changed since: after these items. */
interface Position {
  marks: readonly string[];
  /** The index of the first of them. */
  index: number;
}

/** Picks a page out of the items of a list. */
class PageReader {
  items: unknown[] = [];
  /** The position after the page, if more items follow. */
  next: Position | undefined;
  readonly #after: Position;
  readonly #limit: number;
  readonly #maxLength: number;
  #length = 0;
  #index = 0;
  /** The last of the marked items that was read. */
  #reached = -1;
  /** The marks of the last items that were read. */
  #seen: string[] = [];

  constructor(
    after: Position = { marks: [], index: 0 },
    { limit, maxLength }: { limit: number; maxLength: number },
  ) {
    this.#after = after;
    this.#limit = limit;
    this.#maxLength = maxLength;
  }

  /**
   * Reads the next item of the list. The page begins after the last marked item that still exists; if none
   * does, where they were.
   *
   * @returns whether to go on
   */
  read(item: unknown, mark: string): boolean {
    const { marks, index } = this.#after;
    const marked = marks.lastIndexOf(mark);
    if (marked > this.#reached) {
      this.#reached = marked;
      this.items = [];
      this.next = undefined;
      this.#length = 0;
    } else if (!this.next && (this.#reached >= 0 || this.#index >= index)) this.#add(item);
    this.#index += 1;
    this.#seen.push(mark);
    if (this.#seen.length > 2 * MAX_MARKS) this.#seen = this.#seen.slice(-MAX_MARKS);
    return !this.next || this.#reached < marks.length - 1;
  }

  #add(item: unknown): void {
    const { length } = this.items;
    this.#length += JSON.stringify(item).length + 1;
    const fits = length === 0 || (length < this.#limit && this.#length <= this.#maxLength);
    if (fits) {
      this.items.push(item);
      return;
    }
    const marks = this.#seen.slice(-Math.max(length, MIN_MARKS));
    this.next = { marks, index: this.#index - marks.length };
  }
}

/** @throws ApiError invalid_cursor */
function positionOf(list: readonly unknown[], cursor: string): Position {
  const [, index, marks] = POSITION.exec(decodePosition(list, cursor) ?? '') ?? [];
  if (index === undefined || marks === undefined) throw invalidCursor.error();
  return { index: Number(index), marks: marks.match(MARK) ?? [] };
}

function markOf(item: unknown, key: readonly string[]): string {
  const identity = isRecord(item) ? key.map((name) => item[name]) : item;
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('base64url');
  return hash.slice(0, MARK_LENGTH);
}

async function* itemsOf(list: unknown): AsyncGenerator {
  if (isAsyncIterable(list)) for await (const batch of list) yield* batch;
  if (!Array.isArray(list)) return;
  for (const [index, item] of list.entries()) {
    yield item;
    if (index % TURN === TURN - 1) await yieldToEventLoop();
  }
}

function isPage(result: unknown): result is Page<unknown> {
  return isRecord(result) && Array.isArray(result['items']) && 'nextCursor' in result;
}

/** How many items of a page fit; at least one. */
function countFitting({ items }: Page<unknown>, maxLength: number): number {
  let left = maxLength - MAX_ENDING;
  const tooMany = items.findIndex((item) => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return tooMany === -1 ? items.length : Math.max(tooMany, 1);
}
