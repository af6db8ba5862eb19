import type { EventType } from '../../events';
import { ALL_MONTHS, type CareMonthDocument } from '../model';
import { WEEKDAYS, weekdayOf } from '../weekdays';

/** Events of a type on a day, or on a weekday of any month. */
interface EventCount {
  /** `YYYY-MM-DD`, or a weekday from `0` for Monday on. */
  day: string;
  type: EventType;
  count: number;
}

/** What events add up to: how many there are, and how many on each weekday, Monday first. */
export interface CareSums {
  events: number;
  weekdays: number[];
}

/** Events by day and type; counts may be negative where they are differences. */
class EventCounts {
  readonly #days = new Map<string, Map<EventType, number>>();

  add(day: string, type: EventType, by = 1): void {
    let types = this.#days.get(day);
    if (!types) this.#days.set(day, (types = new Map<EventType, number>()));
    const count = (types.get(type) ?? 0) + by;
    if (count === 0) types.delete(type);
    else types.set(type, count);
  }

  /** Adds what is stored of a month. */
  addMonth({ month, days }: CareMonthDocument): void {
    for (const [day, types] of Object.entries(days)) {
      const date = month === ALL_MONTHS ? day : `${month}-${day}`;
      // The keys are the event types that `TypeCounts` names.
      for (const [type, count] of Object.entries(types)) this.add(date, type as EventType, count);
    }
  }

  /** Adds the counts of others so many times; -1 takes them away. */
  addAll(other: this, times = 1): this {
    for (const { day, type, count } of other.unsorted()) this.add(day, type, count * times);
    return this;
  }

  of(day: string, type: EventType): number {
    return this.#days.get(day)?.get(type) ?? 0;
  }

  /** Every day and type with its count, by day, then type; those without events are not there. */
  entries(): EventCount[] {
    const sorted = (a: EventCount, b: EventCount) =>
      compare(a.day, b.day) || compare(a.type, b.type);
    return [...this.unsorted()].sort(sorted);
  }

  protected *unsorted(): Generator<EventCount> {
    for (const [day, types] of this.#days) {
      for (const [type, count] of types) yield { day, type, count };
    }
  }

  protected get days(): string[] {
    return [...this.#days.keys()];
  }
}

/** Events by the days of months. */
export class DayCounts extends EventCounts {
  /** The days with waterings, in their order. */
  watered(): string[] {
    return this.days.filter((day) => this.of(day, 'watered') !== 0).sort();
  }

  byWeekday(): WeekdayCounts {
    const weekdays = new WeekdayCounts();
    for (const { day, type, count } of this.unsorted()) {
      weekdays.add(String(weekdayOf(day)), type, count);
    }
    return weekdays;
  }
}

/** Events by the weekdays of all months. */
export class WeekdayCounts extends EventCounts {
  get sums(): CareSums {
    const sums = { events: 0, weekdays: WEEKDAYS.map(() => 0) };
    for (const { day, count } of this.unsorted()) {
      const weekday = Number(day);
      sums.events += count;
      sums.weekdays[weekday] = (sums.weekdays[weekday] ?? 0) + count;
    }
    return sums;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
