import type { mongo } from 'mongoose';

import type { AccountScope } from '../../../src/data/models';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { EventType } from '../../events';
import { DayCounts } from './day-counts';
import { type CareMonthDocument, careMonthModel } from '../model';

/** How many events an account has on each day, in its time zone; stored by month. */
export class CareMonths {
  readonly #months;

  constructor(host: Host) {
    this.#months = host.records(careMonthModel);
  }

  /** Whether there is any. */
  exist(scope: AccountScope): Promise<boolean> {
    return this.#months.exists(scope, {});
  }

  /** The counts of all days. */
  all(scope: AccountScope): Promise<DayCounts> {
    return this.#read(scope, {});
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

  /** Adds differences to the counts. */
  async add(tx: Transaction, by: DayCounts): Promise<void> {
    const months = new Map<string, Record<string, number>>();
    for (const { date, type, count } of by.entries()) {
      const month = monthOf(date);
      const increments = months.get(month) ?? {};
      increments[`days.${date.slice(8)}.${type}`] = count;
      months.set(month, increments);
    }
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

function addTo(counts: DayCounts, { month, days }: CareMonthDocument): void {
  for (const [day, types] of Object.entries(days)) {
    for (const [type, count] of Object.entries(types)) {
      // The keys are the event types that `TypeCounts` names.
      counts.add(`${month}-${day}`, type as EventType, count);
    }
  }
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}
