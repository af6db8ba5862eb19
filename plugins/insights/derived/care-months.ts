import type { mongo } from 'mongoose';

import type { AccountScope } from '../../../src/data/models';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import { ALL_MONTHS, type CareMonthDocument, careMonthModel } from '../model';
import { DayCounts, WeekdayCounts } from './day-counts';

/**
 * How many events an account has on each day, stored by month; and on each weekday of all months, so
 * that nobody has to go through them.
 */
export class CareMonths {
  readonly #months;

  constructor(host: Host) {
    this.#months = host.records(careMonthModel);
  }

  /** The counts of all days. */
  all(scope: AccountScope): Promise<DayCounts> {
    return this.#read(new DayCounts(), scope, { month: { $ne: ALL_MONTHS } });
  }

  /** The counts of all days by weekday. */
  weekdays(scope: AccountScope): Promise<WeekdayCounts> {
    return this.#read(new WeekdayCounts(), scope, { month: ALL_MONTHS });
  }

  /**
   * The counts of the month of the first day, and of those up to the month of the last: of some
   * months at a time, in their order, so that centuries are not counted in one turn of the event loop.
   */
  async *between(scope: AccountScope, first: string, last: string): AsyncGenerator<DayCounts> {
    const filter = { month: { $gte: monthOf(first), $lte: monthOf(last) } };
    for await (const months of this.#months.batches(scope, filter, { sort: { month: 1 } })) {
      const counts = new DayCounts();
      for (const month of months) counts.addMonth(month);
      yield counts;
    }
  }

  /** The counts of the months of some days. */
  around(scope: AccountScope, days: readonly string[]): Promise<DayCounts> {
    return this.#read(new DayCounts(), scope, { month: { $in: [...new Set(days.map(monthOf))] } });
  }

  /** Adds differences to the counts of days, and to those of weekdays what they add up to. */
  async add(tx: Transaction, days: DayCounts, weekdays = days.byWeekday()): Promise<void> {
    const months = new Map<string, Record<string, number>>();
    const add = (month: string, field: string, count: number): void => {
      const increments = months.get(month) ?? {};
      increments[`days.${field}`] = count;
      months.set(month, increments);
    };
    for (const { day, type, count } of days.entries()) {
      add(monthOf(day), `${day.slice(8)}.${type}`, count);
    }
    for (const { day, type, count } of weekdays.entries()) {
      add(ALL_MONTHS, `${day}.${type}`, count);
    }
    await this.#months.upsertMany(
      tx,
      [...months].map(([month, $inc]) => ({ filter: { month }, update: { $inc } })),
    );
  }

  async #read<Counts extends DayCounts | WeekdayCounts>(
    counts: Counts,
    scope: AccountScope,
    filter: mongo.Filter<CareMonthDocument>,
  ): Promise<Counts> {
    // As in `between`.
    for await (const months of this.#months.batches(scope, filter)) {
      for (const month of months) counts.addMonth(month);
    }
    return counts;
  }
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}
