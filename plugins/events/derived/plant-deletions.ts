import type { ClientSession } from 'mongoose';

import { Failures } from '../../../src/core/each';
import { isAccountGone } from '../../../src/core/identity';
import { anyOf, idText, toStoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/model/models';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Job } from '../../../src/plugins/plugin';
import type { EventContext } from '../context';
import { careChanged } from '../domain-events';
import { deletedPlantModel } from '../model';
import type { DayCount } from './event-sums';

/** Events marked as deleted per transaction: few enough not to delay the account's own writes. */
const CHUNK = 1000;

/**
 * The events of deleted plants. Deleting a plant only records it here, in the same transaction, so it
 * takes the same time however many events the plant has. Its events are out of reach from then on; a job
 * marks them as deleted later, even after a crash.
 */
export class PlantDeletions {
  readonly #plants;
  readonly #context: EventContext;

  constructor(context: EventContext) {
    this.#context = context;
    this.#plants = context.host.model(deletedPlantModel);
  }

  async record(tx: Transaction, plantId: string): Promise<void> {
    const { userId, now, session } = tx;
    const deleted = { _id: toStoredId(plantId), userId, removedAt: now };
    await this.#plants.create([deleted], { session });
  }

  /** The days of events of deleted plants that totals still count. */
  async *pending(userId: string, session: ClientSession): AsyncGenerator<DayCount> {
    const plantIds = await this.plantIds(userId, session);
    if (plantIds.length === 0) return;
    yield* this.#context.sums.byDay({ userId, session }, plantIds.map(toStoredId));
  }

  /** The deleted plants of an account whose events are not all marked as deleted. */
  async plantIds(userId: string, session: ClientSession): Promise<string[]> {
    const plants = await this.#plants.find().of({ userId, session }).lean();
    return plants.map(({ _id }) => idText(_id));
  }

  /** A job that finishes the deletions of all accounts, a chunk of each at a time. */
  job(): Job {
    return {
      name: 'mark the events of deleted plants deleted',
      everySeconds: 1,
      run: async (stopping) => {
        const failures = new Failures();
        const failed = new Set<string>();
        for (let isUnfinished = true; isUnfinished;) {
          isUnfinished = false;
          // Read again in each round, so that new deletions do not wait for long ones.
          const plants = await this.#plants.find().acrossAccounts('a job of the server').lean();
          for (const { userId, _id } of plants) {
            const plantId = idText(_id);
            if (failed.has(plantId)) continue;
            if (stopping.aborted) return;
            try {
              if (!(await this.#finishSome(userId, plantId))) isUnfinished = true;
            } catch (error) {
              // A failed one is retried by the next run. A deleted account takes its events along.
              if (isAccountGone(error)) continue;
              failed.add(plantId);
              failures.add(error, userId);
            }
          }
        }
        failures.throwIfAny();
      },
    };
  }

  /** Marks a chunk of events as deleted; returns whether it was the last. */
  #finishSome(userId: string, plantId: string): Promise<boolean> {
    return this.#context.host.transact(userId, async (tx) => {
      const id = { _id: plantId };
      // Another process may have finished it.
      if (!(await this.#plants.exists(id).of(tx))) return true;
      if ((await this.#markSome(tx, plantId)) === CHUNK) return false;
      await this.#plants.deleteOne(id).of(tx);
      return true;
    });
  }

  /** Copies need not learn of each event, since the deleted plant stands for them. Returns how many. */
  async #markSome(tx: Transaction, plantId: string): Promise<number> {
    const { model } = this.#context;
    const events = await model
      .find({ ...LIVE, plantId })
      .of(tx)
      .limit(CHUNK)
      .lean();
    if (events.length === 0) return 0;
    const ids = anyOf(events.map(({ _id }) => _id));
    const deleted = { $set: { deletedAt: tx.now } };
    await model.updateMany({ _id: ids }, deleted).of(tx).setOptions({ tracked: false });
    await tx.emit(
      careChanged,
      events.map((before) => ({ before })),
    );
    return events.length;
  }
}
