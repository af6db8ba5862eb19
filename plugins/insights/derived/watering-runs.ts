import type { AccountScope } from '../../../src/data/models';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import { wateringRunModel } from '../model';
import { changedRuns, differentRuns, type Run } from './runs';

/**
 * The runs of days on which an account watered. They are as long as they can be:
 * between two of them is a day without a watering.
 */
export class WateringRuns {
  readonly #runs;

  constructor(host: Host) {
    this.#runs = host.records(wateringRunModel);
  }

  /** As few of them as say how long the longest is, which is the last, and which goes on today. */
  async notable(scope: AccountScope, today: number): Promise<Run[]> {
    const last = await this.#runs.findOne(scope, {}, { sort: { first: -1 } });
    if (!last) return [];
    const longest = await this.#runs.findOne(scope, {}, { sort: { days: -1 } });
    const begun = { first: { $lte: today } };
    const current =
      last.first <= today ? last : await this.#runs.findOne(scope, begun, { sort: { first: -1 } });
    return [longest, current, last].filter((run) => run !== undefined);
  }

  /** Adds days on which it now watered, and removes those on which it no more did. */
  async change(
    tx: Transaction,
    days: { added: readonly number[]; removed: readonly number[] },
  ): Promise<void> {
    const changed = [...days.added, ...days.removed].sort((a, b) => a - b);
    const first = changed.at(0);
    const last = changed.at(-1);
    if (first === undefined || last === undefined) return;
    // All that have one of the days, or a neighbour of one.
    const before = { first: { $lt: first } };
    const within = { first: { $gte: first, $lte: last + 1 } };
    const runs = [
      ...(await this.#runs.find(tx, before, { sort: { first: -1 }, limit: 1 })),
      ...(await this.#runs.find(tx, within, { sort: { first: 1 } })),
    ];
    await this.#replace(tx, runs, changedRuns(runs, days));
  }

  /** Makes these the runs, and answers those that there were. */
  async set(tx: Transaction, wanted: readonly Run[]): Promise<Run[]> {
    const stored = await this.#runs.find(tx, {}, { sort: { first: 1 } });
    await this.#replace(tx, stored, wanted);
    return stored;
  }

  async #replace(tx: Transaction, before: readonly Run[], after: readonly Run[]): Promise<void> {
    const changes = differentRuns(before, after);
    const gone = changes.filter(({ should }) => should === 0).map(({ first }) => first);
    if (gone.length > 0) await this.#runs.deleteMany(tx, { first: { $in: gone } });
    await this.#runs.upsertMany(
      tx,
      changes
        .filter(({ should }) => should > 0)
        .map(({ first, should }) => ({
          filter: { first },
          update: { $set: { last: first + should - 1, days: should } },
        })),
    );
  }
}
