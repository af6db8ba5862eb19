import { asUuid } from '../core/ids';
import { firstOfPage } from '../core/text/json-array';
import type { Page } from '../fields/page';
import type { Position } from './cursor';

/** The order of lists in pages: newest first by a moment, then by id. */
export function newestFirst(moment: string): Readonly<Record<string, 1 | -1>> {
  return { [moment]: -1, _id: 1 };
}

/** Which part of such a list is wanted; both moments are included. */
interface Range {
  from?: Date | undefined;
  to?: Date | undefined;
  /** A position not before `from` nor after `to`: only what comes after it. */
  after?: Position | undefined;
}

/** A filter for a part of a list that goes by this moment. */
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

/** What was found for a page. */
interface Found<Stored> {
  /** In their order; more than `limit` where there are more. No more are come to than are shown. */
  found: Iterable<Stored>;
  limit: number;
  /** Where a search ended that has not been through all: the last record that it looked at. */
  searchedTo?: Stored | undefined;
}

/** One page; it ends early where it would be too long. */
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
