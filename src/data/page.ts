import { asUuid } from '../core/ids';
import { firstOfPage } from '../core/text/json-array';
import type { Page } from '../fields/page';
import type { Position } from './cursor';

/** The order of paged lists: newest first by a date, then by id. */
export function newestFirst(moment: string): Readonly<Record<string, 1 | -1>> {
  return { [moment]: -1, _id: 1 };
}

/** A range of such a list, both ends included. */
interface Range {
  from?: Date | undefined;
  to?: Date | undefined;
  /** Only what comes after this position, which is between `from` and `to`. */
  after?: Position | undefined;
}

/** The filter for a range of a list that is sorted by this field. */
export function inRange(moment: string, { from, to, after }: Range): Record<string, unknown> {
  const last = after?.moment ?? to;
  const bounds = { ...(from ? { $gte: from } : {}), ...(last ? { $lte: last } : {}) };
  if (!after) return from || last ? { [moment]: bounds } : {};
  return {
    [moment]: bounds,
    $or: [
      { [moment]: { $lt: after.moment } },
      { [moment]: after.moment, _id: { $gt: asUuid(after.id) } },
    ],
  };
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
  const items = await firstOfPage(present(wanted()));
  const last = read.length > items.length ? read[items.length - 1] : searchedTo;
  return {
    items,
    hasMore: last !== undefined,
    nextCursor: last === undefined ? null : cursorAfter(last),
  };
}
