import type { ClientSession } from 'mongoose';

import { isAccountGone } from '../../../src/core/identity';
import { idText, toStoredId } from '../../../src/core/ids';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { Job } from '../../../src/plugins/plugin';
import { deletedPlantModel } from '../model';
import type { CareEntry } from '../schema';
import type { EventService } from '../service';

/** Events marked deleted in one transaction: few enough that the account's own writes get through. */
const CHUNK = 1000;

/**
 * The events of deleted plants. Deleting a plant only records it here, in the same transaction, so
 * it takes the same time however many events the plant has. From then on its events are out of
 * reach, since their plant is gone; marking them deleted is finished afterwards, also after a crash.
 */
export class PlantDeletions {
  readonly #plants;
  readonly #host: Host;
  readonly #events: EventService;

  constructor(host: Host, events: EventService) {
    this.#host = host;
    this.#events = events;
    this.#plants = host.records(deletedPlantModel);
  }

  async record(tx: Transaction, plantId: string): Promise<void> {
    const { userId, now } = tx;
    await this.#plants.insert(tx, { _id: toStoredId(plantId), userId, removedAt: now });
  }

  /** Events that totals still count although their plant is gone. */
  async *pending(userId: string, session: ClientSession): AsyncGenerator<CareEntry> {
    const plantIds = await this.plantIds(userId, session);
    if (plantIds.length === 0) return;
    yield* this.#events.careEntries(userId, session, { plantIds: plantIds.map(toStoredId) });
  }

  /** The plants of an account whose events are yet to be marked deleted. */
  async plantIds(userId: string, session?: ClientSession): Promise<string[]> {
    const plants = await this.#plants.find({ userId, ...(session ? { session } : {}) });
    return plants.map(({ _id }) => idText(_id));
  }

  /** Finishes deletions, of all accounts, a chunk at a time. */
  job(): Job {
    return {
      name: 'mark the events of deleted plants deleted',
      everySeconds: 1,
      run: async (stopping) => {
        const plants = await this.#plants.findAcrossAccounts('a job of the server');
        const failures: unknown[] = [];
        for (const { userId, _id } of plants) {
          if (stopping.aborted) return;
          // One that fails is tried again next time; the others need not wait for it.
          await this.#finish(userId, idText(_id), stopping).catch((error: unknown) => {
            // Who deletes an account deletes its events too.
            if (!isAccountGone(error)) failures.push(error);
          });
        }
        // Of several the log says one, and why.
        if (failures.length > 0) throw failures[0];
      },
    };
  }

  /** Finishes the deletions of one account. */
  async finish(userId: string): Promise<void> {
    for (const plantId of await this.plantIds(userId)) await this.#finish(userId, plantId);
  }

  async #finish(userId: string, plantId: string, stopping?: AbortSignal): Promise<void> {
    let isDone = false;
    while (!isDone && stopping?.aborted !== true) {
      isDone = await this.#host.transact(userId, async (tx) => {
        const id = { _id: toStoredId(plantId) };
        // Another process may have finished it, and seeds may have brought the plant back since.
        if (!(await this.#plants.findOne(tx, id))) return true;
        const marked = await this.#events.deleteSome(tx, plantId, CHUNK);
        if (marked === CHUNK) return false;
        await this.#plants.deleteOne(tx, id);
        return true;
      });
    }
  }
}
