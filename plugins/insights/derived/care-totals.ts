import type { AccountScope } from '../../../src/data/models';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { CareSums } from './day-counts';
import { careTotalsModel } from '../model';

/** What all events of an account add up to, so that nobody has to go through its days. */
export class CareTotals {
  readonly #totals;

  constructor(host: Host) {
    this.#totals = host.records(careTotalsModel);
  }

  /** Undefined where they were never computed. */
  async read(scope: AccountScope): Promise<CareSums | undefined> {
    const totals = await this.#totals.findOne(scope, {});
    return totals && { events: totals.events, weekdays: totals.weekdays };
  }

  /** Answers whether there were totals to add to. */
  add(tx: Transaction, { events, weekdays }: CareSums): Promise<boolean> {
    const byWeekday = weekdays.map((count, weekday) => [`weekdays.${weekday}`, count] as const);
    return this.#totals.updateOne(tx, {}, { $inc: { events, ...Object.fromEntries(byWeekday) } });
  }

  async set(tx: Transaction, sums: CareSums): Promise<void> {
    await this.#totals.upsert(tx, {}, { $set: sums });
  }
}
