import { yieldToEventLoop } from '../../src/core/async';
import { addDays } from '../../src/core/time';
import { daysOf, firstDayOf, itemOf, type Need } from './needs';
import type { CareItem } from './schema';

/** The most items of an agenda, unless one day has more. */
const MAX_ITEMS = 5000;

/** Needs per turn of the event loop. */
const TURN = 500;

/** Due care, and an iterator over its later days. */
interface Due {
  need: Need;
  /** Its position among all, for the order within a day. */
  place: number;
  days: Iterator<string, undefined>;
}

/** Care that is due up to a day, by day, then in the order of the needs. */
export function dueBy(needs: readonly Need[], today: string, last: string): CareItem[] {
  const items: CareItem[] = [];
  for (const need of needs) {
    const day = firstDayOf(need);
    if (day !== undefined && day <= last) items.push(itemOf(need, day, today));
  }
  return sortByDay(items);
}

/** Sorts items by day, otherwise in their order. */
export function sortByDay(items: CareItem[]): CareItem[] {
  return items.sort((a, b) => (a.dueOn < b.dueOn ? -1 : Number(a.dueOn > b.dueOn)));
}

/**
 * The same with later occurrences, as if overdue care were done today and the rest on its day. If there
 * are too many items, later days are left out; `through` is the last day that is listed.
 */
export async function agenda(
  needs: readonly Need[],
  today: string,
  last: string,
): Promise<{ items: CareItem[]; through: string }> {
  const byDay = new Map<string, Due[]>();
  let added = 0;
  /** Adds care to the next day on which it is due, if there is one. */
  const add = async (due: Due): Promise<void> => {
    added += 1;
    if (added % TURN === 0) await yieldToEventLoop();
    const day = due.days.next().value;
    const ofDay = day === undefined ? undefined : byDay.get(day);
    if (ofDay) ofDay.push(due);
    else if (day !== undefined) byDay.set(day, [due]);
  };
  for (const [place, need] of needs.entries()) {
    await add({ need, place, days: daysOf(need, today) });
  }
  const days = [...byDay.keys()].filter((day) => day <= today && day <= last).sort();
  for (let day = addDays(today, 1); day <= last; day = addDays(day, 1)) days.push(day);
  const items: CareItem[] = [];
  for (const day of days) {
    const ofDay = (byDay.get(day) ?? []).sort((a, b) => a.place - b.place);
    if (items.length > 0 && items.length + ofDay.length > MAX_ITEMS) {
      return { items, through: addDays(day, -1) };
    }
    for (const due of ofDay) {
      items.push(itemOf(due.need, day, today));
      await add(due);
    }
  }
  return { items, through: last };
}
