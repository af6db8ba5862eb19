import { dayNumber } from '../../src/core/time';
import type { EventType } from '../events';
import { ALL_MONTHS, type CareMonthDocument } from './model';

/** The English weekdays, Monday first. */
export const WEEKDAYS = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const;
/** The weekday of 1 January 1970. */
const THURSDAY = 3;

/** Events of a type on a day of a month, or on a weekday of all months. */
export interface CareCount {
  /** As in {@link CareMonthDocument}. */
  month: string;
  day: string;
  type: EventType;
  count: number;
}

/** Numbers of events by day and type; differences may be negative. */
export class CareCounts {
  readonly #counts = new Map<string, CareCount>();

  /** Adds a multiple of a count; -1 subtracts it. */
  add(count: CareCount, times = 1): void {
    this.#counts.set(keyOf(count), { ...count, count: this.of(count) + count.count * times });
  }

  /** Adds events to a day and to its weekday. */
  addEvents(date: string, type: EventType, count: number): void {
    const weekday = (((dayNumber(date) + THURSDAY) % 7) + 7) % 7;
    this.add({ month: date.slice(0, 7), day: date.slice(8), type, count });
    this.add({ month: ALL_MONTHS, day: String(weekday), type, count });
  }

  of(count: Omit<CareCount, 'count'>): number {
    return this.#counts.get(keyOf(count))?.count ?? 0;
  }

  /** The counts that are not zero, by day, then type; weekdays come last. */
  entries(): CareCount[] {
    const found = [...this.#counts].filter(([, { count }]) => count !== 0);
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }
}

function keyOf({ month, day, type }: Omit<CareCount, 'count'>): string {
  return `${month} ${day} ${type}`;
}

/** The counts of a stored month, by day, then type. */
export function countsOf({ month, days }: CareMonthDocument): CareCount[] {
  return Object.keys(days)
    .sort()
    .flatMap((day) =>
      Object.entries(days[day] ?? {})
        // The keys are event types.
        .map(([type, count]) => ({ month, day, type: type as EventType, count }))
        .sort((a, b) => (a.type < b.type ? -1 : 1)),
    );
}
