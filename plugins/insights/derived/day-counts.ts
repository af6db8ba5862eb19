import type { EventType } from '../../events';
import { WEEKDAYS, weekdayOf } from '../weekdays';

/** Events of a type on a day (`YYYY-MM-DD`), or on a weekday (from `0` for Monday on). */
export interface DayCount {
  date: string;
  type: EventType;
  count: number;
}

/** Events by day and type; counts may be negative where they are differences. */
export class DayCounts {
  readonly #days = new Map<string, Map<EventType, number>>();

  add(day: string, type: EventType, by = 1): void {
    let types = this.#days.get(day);
    if (!types) this.#days.set(day, (types = new Map<EventType, number>()));
    const count = (types.get(type) ?? 0) + by;
    if (count === 0) types.delete(type);
    else types.set(type, count);
  }

  /** What is left without others. */
  minus(other: DayCounts): DayCounts {
    const left = new DayCounts();
    for (const { date, type, count } of this.#unsorted()) left.add(date, type, count);
    for (const { date, type, count } of other.#unsorted()) left.add(date, type, -count);
    return left;
  }

  of(day: string, type: EventType): number {
    return this.#days.get(day)?.get(type) ?? 0;
  }

  /** Every day and type with its count, by day, then type; those without events are not there. */
  entries(): DayCount[] {
    const sorted = (a: DayCount, b: DayCount) => compare(a.date, b.date) || compare(a.type, b.type);
    return [...this.#unsorted()].sort(sorted);
  }

  /** The days with waterings, in their order. */
  watered(): string[] {
    return [...this.#days.keys()].filter((day) => this.of(day, 'watered') !== 0).sort();
  }

  *#unsorted(): Generator<DayCount> {
    for (const [date, types] of this.#days) {
      for (const [type, count] of types) yield { date, type, count };
    }
  }
}

/** The same by weekday instead of by day. */
export function byWeekday(counts: DayCounts): DayCounts {
  const weekdays = new DayCounts();
  for (const { date, type, count } of counts.entries()) {
    weekdays.add(String(weekdayOf(date)), type, count);
  }
  return weekdays;
}

/** What events add up to: how many there are, and how many on each weekday, Monday first. */
export interface CareSums {
  events: number;
  weekdays: number[];
}

/** What counts by weekday add up to. */
export function sumsOf(counts: DayCounts): CareSums {
  const sums = { events: 0, weekdays: WEEKDAYS.map(() => 0) };
  for (const { date, count } of counts.entries()) {
    const weekday = Number(date);
    sums.events += count;
    sums.weekdays[weekday] = (sums.weekdays[weekday] ?? 0) + count;
  }
  return sums;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
