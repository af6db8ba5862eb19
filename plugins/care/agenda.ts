import { addDays } from '../../src/core/time';
import { daysOf, itemOf, type Need } from './needs';
import type { CareItem } from './schema';

/** The most items of an agenda, unless one day has more. */
const MAX_ITEMS = 5000;

/** Due care, and an iterator over its later days. */
interface Due {
  need: Need;
  /** Its position among all, for the order within a day. */
  place: number;
  days: Iterator<string, undefined>;
}

/** Care that is due up to a day, by day, then in the order of the needs. */
export function dueBy(needs: readonly Need[], today: string, last: string): CareItem[] {
  const byDay = firstByDay(needs, today);
  return [...byDay.keys()]
    .sort()
    .filter((day) => day <= last)
    .flatMap((day) => itemsOf(byDay, day, today));
}

/**
 * The same with later occurrences, as if overdue care were done today and the rest on its day. If there
 * are too many items, later days are left out; `through` is the last day that is listed.
 */
export function agenda(
  needs: readonly Need[],
  today: string,
  last: string,
): { items: CareItem[]; through: string } {
  const byDay = firstByDay(needs, today);
  const days = [...byDay.keys()].filter((day) => day <= today && day <= last).sort();
  for (let day = addDays(today, 1); day <= last; day = addDays(day, 1)) days.push(day);
  const items: CareItem[] = [];
  for (const day of days) {
    const ofDay = itemsOf(byDay, day, today);
    if (items.length > 0 && items.length + ofDay.length > MAX_ITEMS) {
      return { items, through: addDays(day, -1) };
    }
    items.push(...ofDay);
    for (const due of byDay.get(day) ?? []) add(byDay, due);
  }
  return { items, through: last };
}

type ByDay = Map<string, Due[]>;

function firstByDay(needs: readonly Need[], today: string): ByDay {
  const byDay: ByDay = new Map();
  needs.forEach((need, place) => {
    add(byDay, { need, place, days: daysOf(need, today) });
  });
  return byDay;
}

/** Adds care to the next day on which it is due, if there is one. */
function add(byDay: ByDay, due: Due): void {
  const day = due.days.next().value;
  if (day === undefined) return;
  const ofDay = byDay.get(day) ?? [];
  ofDay.push(due);
  byDay.set(day, ofDay);
}

function itemsOf(byDay: ByDay, day: string, today: string): CareItem[] {
  const ofDay = byDay.get(day) ?? [];
  return ofDay.sort((a, b) => a.place - b.place).map(({ need }) => itemOf(need, day, today));
}
