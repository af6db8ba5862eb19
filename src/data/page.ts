import { decodePosition, encodePosition } from '../core/cursor';
import { invalidCursor } from '../core/errors';
import { asUuid, idText, isUuid, toStoredId, type StoredId } from '../core/ids';
import { takePage } from '../core/text/json';
import type { Page } from '../fields/page';

/** A position in a list that is sorted by a date, then by id: just after this record. */
export interface Position {
  /** Null if the record has none; such records come last. */
  moment: Date | null;
  id: StoredId;
}

/** The account of a list, and all else that selects its records. */
type ListIdentity = readonly [userId: string, ...rest: unknown[]];

/** Makes the cursor of a position, which is valid for this list only. */
export function encodeCursor(list: ListIdentity, { moment, id }: Position): string {
  return encodePosition(list, `${moment?.getTime() ?? 'none'}.${idText(id)}`);
}

/** @throws ApiError invalid_cursor for anything that {@link encodeCursor} did not make for this list */
export function decodeCursor(list: ListIdentity, cursor: string): Position {
  const [milliseconds = '', id = ''] = decodePosition(list, cursor)?.split('.') ?? [];
  if (!isUuid(id)) throw invalidCursor.error();
  if (milliseconds === 'none') return { moment: null, id: toStoredId(id) };
  const moment = new Date(/^-?\d+$/.test(milliseconds) ? Number(milliseconds) : NaN);
  if (Number.isNaN(moment.getTime())) throw invalidCursor.error();
  return { moment, id: toStoredId(id) };
}

/** The order of paged lists: newest first by a date, then by id. */
export function newestFirst(moment: string): Readonly<Record<string, 1 | -1>> {
  return { [moment]: -1, _id: 1 };
}

/** A range of such a list, both ends included. */
export interface Range {
  from?: Date | undefined;
  to?: Date | undefined;
  /** Only what comes after this position, which is between `from` and `to`. */
  after?: Position | undefined;
  /** Whether the list has records without the date. */
  hasUndated?: boolean;
}

/** The filter for a range of a list that is sorted by this field. */
export function inRange(
  moment: string,
  { from, to, after, hasUndated = false }: Range,
): Record<string, unknown> {
  if (after?.moment === null) return { [moment]: null, _id: { $gt: asUuid(after.id) } };
  const last = after?.moment ?? to;
  const bounds = { ...(from ? { $gte: from } : {}), ...(last ? { $lte: last } : {}) };
  if (!after) return from || last ? { [moment]: bounds } : {};
  const later = [
    { [moment]: { $lt: after.moment } },
    { [moment]: after.moment, _id: { $gt: asUuid(after.id) } },
  ];
  return hasUndated ? { $or: [...later, { [moment]: null }] } : { [moment]: bounds, $or: later };
}

/** The records found for a page. */
interface Found<Stored> {
  /** In order, and more than `limit` if there are more. Read only as far as needed. */
  found: Iterable<Stored>;
  limit: number;
  /** The last record that a search looked at, if it did not search all. */
  searchedTo?: Stored | undefined;
}

/** Makes a page, which ends early if it would be too long. */
export async function pageOf<Stored, View>(
  { found, limit, searchedTo }: Found<Stored>,
  present: (records: Iterable<Stored>) => AsyncIterable<readonly View[]>,
  cursorAfter: (record: Stored) => string,
): Promise<Page<View>> {
  const read: Stored[] = [];
  function* wanted(): Generator<Stored> {
    for (const record of found) {
      read.push(record);
      if (read.length > limit) return;
      yield record;
    }
  }
  const items = await takePage(present(wanted()));
  const last = read.length > items.length ? read[items.length - 1] : searchedTo;
  return {
    items,
    hasMore: last !== undefined,
    nextCursor: last === undefined ? null : cursorAfter(last),
  };
}
