import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Model, Schema } from 'mongoose';

import { sharedModel } from '../model/models';
import { isDuplicateKey } from '../mongodb/errors';
import { SchemaError } from './migration';

/** How long it stays that of a program that was killed; clocks may differ by some of it. */
const LEASE_MS = 15_000;
const RENEW_MS = 3000;
const RETRY_MS = 250;
/** How long a program waits for others that hold it. */
const PATIENCE_MS = 30 * 60_000;

interface LeaseDocument {
  _id: string;
  holder: string;
  until: Date;
}

export const leaseModel = sharedModel<LeaseDocument>(
  'Lease',
  'programs that share a database take turns with all of it',
  new Schema<LeaseDocument>(
    {
      _id: { type: String, required: true },
      holder: { type: String, required: true },
      until: { type: Date, required: true },
    },
    { collection: 'leases' },
  ),
);

/** The right to work at something, such as a database as a whole, which one program has at a time. */
export class Lease {
  readonly #leases: Model<LeaseDocument>;
  readonly #own: { _id: string; holder: string };
  #until = 0;

  constructor(leases: Model<LeaseDocument>, name: string) {
    this.#leases = leases;
    this.#own = { _id: name, holder: randomUUID() };
  }

  /**
   * Does work while no other program does.
   *
   * @param onWait called once when others have to be waited for
   * @throws SchemaError where others take too long
   */
  async hold<T>(work: () => Promise<T>, onWait: () => void): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 1; !(await this.#take()); attempt += 1) {
      if (attempt === 1) onWait();
      if (performance.now() >= deadline) {
        throw new SchemaError('Another program has been migrating the data for too long.');
      }
      await sleep(RETRY_MS);
    }
    return this.#keepDuring(work);
  }

  /** Does work unless another program is at it; returns whether it did. */
  async try(work: () => Promise<void>): Promise<boolean> {
    if (!(await this.#take())) return false;
    await this.#keepDuring(work);
    return true;
  }

  /** Whether nobody else can take it for so many milliseconds. */
  lasts(ms: number): boolean {
    return Date.now() + ms < this.#until;
  }

  /** @throws SchemaError where another program may have taken over, as after a suspension */
  check(): void {
    if (this.lasts(0)) return;
    throw new SchemaError('The migration was interrupted; start the program again to continue it.');
  }

  async #keepDuring<T>(work: () => Promise<T>): Promise<T> {
    const ending = new AbortController();
    const renewal = this.#renewUntil(ending.signal);
    try {
      return await work();
    } finally {
      ending.abort();
      // One under way would take it again.
      await renewal;
      // Where it cannot be deleted it ends by itself, and what became of the work matters more.
      await this.#leases.deleteOne(this.#own).catch(() => undefined);
    }
  }

  async #renewUntil(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await sleep(RENEW_MS, undefined, { signal: ending }).catch(() => undefined);
      // One that fails is tried again; `check` notices when it was too late.
      if (!ending.aborted) await this.#take().catch(() => undefined);
    }
  }

  async #take(): Promise<boolean> {
    const { _id, holder } = this.#own;
    const now = Date.now();
    const until = new Date(now + LEASE_MS);
    const isFree = { $or: [{ holder }, { until: { $lt: new Date(now) } }] };
    try {
      const update = { $set: { holder, until } };
      await this.#leases.updateOne({ _id, ...isFree }, update, { upsert: true });
    } catch (error) {
      // There is one already, and it is another's.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
    this.#until = until.getTime();
    return true;
  }
}
