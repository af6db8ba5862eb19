import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import { idText, toStoredId } from '../../src/ids';
import type { Host, Job } from '../../src/plugins/manifest';
import { removedPlantModel } from './model';
import type { CareFacts } from './facts';
import type { EventService } from './service';

/** Events marked deleted in one transaction: few enough that the account's own writes get through. */
const CHUNK = 1000;

/**
 * The events of removed plants. Removing a plant only notes it here, in the same transaction, so
 * it takes the same time whatever the plant has been through. From then on its events are out of
 * reach, since their plant is gone; marking them deleted is finished afterwards, also after a crash.
 */
export class Removals {
  readonly #removed;
  readonly #host: Host;

  constructor(
    host: Host,
    private readonly events: EventService,
  ) {
    this.#host = host;
    this.#removed = host.model(removedPlantModel);
  }

  async note(tx: Transaction, plantId: string): Promise<void> {
    const { account, session, now } = tx;
    await this.#removed.create([{ _id: toStoredId(plantId), userId: account.id, removedAt: now }], {
      session,
    });
  }

  /** Events that totals still count although their plant is gone. */
  async *pending(userId: string, session: ClientSession): AsyncGenerator<CareFacts> {
    const removed = await this.plantIds(userId, session);
    if (removed.length === 0) return;
    yield* this.events.facts(userId, session, { plantIds: removed.map(toStoredId) });
  }

  /** The plants of an account whose events are yet to be marked deleted. */
  async plantIds(userId: string, session: ClientSession | null = null): Promise<string[]> {
    const removed = await this.#removed.find({ userId }).session(session).lean();
    return removed.map(({ _id }) => idText(_id));
  }

  /** Finishes removals, of all accounts, a chunk at a time. */
  job(): Job {
    return {
      name: 'mark the events of removed plants deleted',
      everySeconds: 1,
      run: async (stopping) => {
        const removed = await this.#host.acrossAccounts('a job of the server', () =>
          this.#removed.find().lean().exec(),
        );
        const failures: unknown[] = [];
        for (const { userId, _id } of removed) {
          if (stopping.aborted) return;
          // One that fails is tried again next time; the others need not wait for it.
          await this.#finish(userId, idText(_id), stopping).catch((error: unknown) => {
            failures.push(error);
          });
        }
        if (failures.length > 0) throw new AggregateError(failures, 'Removals are not finished.');
      },
    };
  }

  /** Finishes the removals of one account. */
  async finish(userId: string): Promise<void> {
    for (const plantId of await this.plantIds(userId)) await this.#finish(userId, plantId);
  }

  async #finish(userId: string, plantId: string, stopping?: AbortSignal): Promise<void> {
    let isDone = false;
    while (!isDone && stopping?.aborted !== true) {
      isDone = await this.#host.transact(userId, async (tx) => {
        const marked = await this.events.removeSome(tx, plantId, CHUNK);
        if (marked === CHUNK) return false;
        const done = { userId, _id: toStoredId(plantId) };
        await this.#removed.deleteOne(done, { session: tx.session });
        return true;
      });
    }
  }
}
