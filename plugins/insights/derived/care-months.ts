import type { mongo } from 'mongoose';

import type { AccountScope } from '../../../src/data/models';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { EventType } from '../../events';
import { ALL_MONTHS, type CareMonthDocument, careMonthModel } from '../model';
import { byWeekday, type DayCount, DayCounts } from './day-counts';

const MONTHS = { month: { $ne: ALL_MONTHS } };

/**
 * How many events an account has on each day, in its time zone, stored by month; and on each weekday
 * of all months, so that nobody has to go through them.
 */
export class CareMonths {
  readonly #months;

  constructor(host: Host) {
    this.#months = host.records(careMonthModel);
  }

  /** The counts of all days. */
  all(scope: AccountScope): Promise<DayCounts> {
    return this.#read(scope, MONTHS);
  }

  /** The counts of all days by weekday. */
  weekdays(scope: AccountScope): Promise<DayCounts> {
    return this.#read(scope, { month: ALL_MONTHS });
  }

  /**
   * The counts of the month of the first day, and of those up to the month of the last: of some
   * months at a time, in their order, so that centuries are not counted in one turn of the event loop.
   */
  async *between(scope: AccountScope, first: string, last: string): AsyncGenerator<DayCounts> {
    const filter = { month: { $gte: monthOf(first), $lte: monthOf(last) } };
    for await (const months of this.#months.batches(scope, filter, { sort: { month: 1 } })) {
      const counts = new DayCounts();
      for (const month of months) addTo(counts, month);
      yield counts;
    }
  }

  /** The counts of the months of some days. */
  around(scope: AccountScope, days: readonly string[]): Promise<DayCounts> {
    return this.#read(scope, { month: { $in: [...new Set(days.map(monthOf))] } });
  }

  /** Adds differences to the counts of days, and to those of weekdays what they add up to. */
  async add(tx: Transaction, days: DayCounts, weekdays = byWeekday(days)): Promise<void> {
    const months = new Map<string, Record<string, number>>();
    const add = (month: string, day: string, { type, count }: DayCount): void => {
      const increments = months.get(month) ?? {};
      increments[`days.${day}.${type}`] = count;
      months.set(month, increments);
    };
    for (const each of days.entries()) add(monthOf(each.date), each.date.slice(8), each);
    for (const each of weekdays.entries()) add(ALL_MONTHS, each.date, each);
    await this.#months.upsertMany(
      tx,
      [...months].map(([month, $inc]) => ({ filter: { month }, update: { $inc } })),
    );
  }

  async #read(scope: AccountScope, filter: mongo.Filter<CareMonthDocument>): Promise<DayCounts> {
    const counts = new DayCounts();
    // As in `between`.
    for await (const months of this.#months.batches(scope, filter)) {
      for (const month of months) addTo(counts, month);
    }
    return counts;
  }
}

/** Adds what is stored of a month. */
export function addTo(counts: DayCounts, { month, days }: CareMonthDocument): void {
  for (const [day, types] of Object.entries(days)) {
    const date = month === ALL_MONTHS ? day : `${month}-${day}`;
    // The keys are the event types that `TypeCounts` names.
    for (const [type, count] of Object.entries(types)) counts.add(date, type as EventType, count);
  }
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}
