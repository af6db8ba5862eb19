import type { ClientSession } from 'mongoose';

import { isAccountGone } from '../../../src/core/identity';
import { anyOf, idText, toStoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/model/models';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Job } from '../../../src/plugins/plugin';
import type { EventContext } from '../context';
import { careChanged } from '../domain-events';
import { deletedPlantModel } from '../model';
import type { DayCount } from './event-sums';

/** Events marked deleted in one transaction: few enough that the account's own writes get through. */
const CHUNK = 1000;

/**
 * The events of deleted plants. Deleting a plant only records it here, in the same transaction, so
 * it takes the same time however many events the plant has. From then on its events are out of
 * reach, since their plant is gone; marking them deleted is finished afterwards, also after a crash.
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

  /** The days of events that totals still count although their plant is gone. */
  async *pending(userId: string, session: ClientSession): AsyncGenerator<DayCount> {
    const plantIds = await this.plantIds(userId, session);
    if (plantIds.length === 0) return;
    yield* this.#context.sums.byDay({ userId, session }, plantIds.map(toStoredId));
  }

  /** The plants of an account whose events are yet to be marked deleted. */
  async plantIds(userId: string, session?: ClientSession): Promise<string[]> {
    const plants = await this.#plants
      .find()
      .of({ userId, ...(session && { session }) })
      .lean();
    return plants.map(({ _id }) => idText(_id));
  }

  /** Finishes deletions, of all accounts, a chunk of each at a time. */
  job(): Job {
    return {
      name: 'mark the events of deleted plants deleted',
      everySeconds: 1,
      run: async (stopping) => {
        const failures = new Map<string, unknown>();
        for (let isUnfinished = true; isUnfinished;) {
          isUnfinished = false;
          // Asked anew for each round: what is deleted meanwhile need not wait for what takes long.
          const plants = await this.#plants.find().acrossAccounts('a job of the server').lean();
          for (const { userId, _id } of plants) {
            const plantId = idText(_id);
            if (failures.has(plantId)) continue;
            if (stopping.aborted) return;
            try {
              if (!(await this.#finishSome(userId, plantId))) isUnfinished = true;
            } catch (error) {
              // One that fails is tried again next time. An account takes its events with it.
              if (!isAccountGone(error)) failures.set(plantId, error);
            }
          }
        }
        // Of several the log says one, and why.
        const [failure] = failures.values();
        if (failures.size > 0) throw failure;
      },
    };
  }

  /** Finishes the deletions of one account. */
  async finish(userId: string): Promise<void> {
    for (const plantId of await this.plantIds(userId)) {
      while (!(await this.#finishSome(userId, plantId)));
    }
  }

  /** Marks a chunk of events deleted; returns whether these were the last. */
  #finishSome(userId: string, plantId: string): Promise<boolean> {
    return this.#context.host.transact(userId, async (tx) => {
      const id = { _id: plantId };
      // Another process may have finished it, and seeds may have brought the plant back since.
      if (!(await this.#plants.exists(id).of(tx))) return true;
      if ((await this.#markSome(tx, plantId)) === CHUNK) return false;
      await this.#plants.deleteOne(id).of(tx);
      return true;
    });
  }

  /** The plant stands for its events in copies: these need not learn of each. Returns how many. */
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
