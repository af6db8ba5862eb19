import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Model, Schema } from 'mongoose';

import { sharedModel } from '../model/models';
import { isDuplicateKey } from '../mongodb/errors';
import { SchemaError } from './migration';

/** How long a lease lasts without renewal. */
const LEASE_MS = 15_000;
const RENEW_MS = 3000;
const RETRY_MS = 250;
/** How long a program waits for a lease. */
const MAX_WAIT_MS = 30 * 60_000;

interface LeaseDocument {
  _id: string;
  holder: string;
  until: Date;
}

export const leaseModel = sharedModel<LeaseDocument>(
  'Lease',
  'programs that share a database take turns with all of it',
  { oneShard: 'a few records' },
  new Schema<LeaseDocument>(
    {
      _id: { type: String, required: true },
      holder: { type: String, required: true },
      until: { type: Date, required: true },
    },
    { collection: 'leases' },
  ),
);

/** A lease, which one process holds at a time. MongoDB's clock decides, since those of processes differ. */
export class Lease {
  readonly #leases: Model<LeaseDocument>;
  readonly #own: { _id: string; holder: string };
  #until = 0;

  constructor(leases: Model<LeaseDocument>, name: string) {
    this.#leases = leases;
    this.#own = { _id: name, holder: randomUUID() };
  }

  /**
   * Runs work while it holds the lease.
   *
   * @param onWait called once if another process holds it
   * @throws SchemaError if another process holds it for too long
   */
  async hold<T>(work: () => Promise<T>, onWait: () => void): Promise<T> {
    const deadline = performance.now() + MAX_WAIT_MS;
    for (let attempt = 1; !(await this.#take()); attempt += 1) {
      if (attempt === 1) onWait();
      if (performance.now() >= deadline) {
        throw new SchemaError('Another program has held the lease for too long.');
      }
      await sleep(RETRY_MS);
    }
    return this.#keepDuring(work);
  }

  /** Runs work unless another process holds the lease; returns whether it ran. */
  async try(work: () => Promise<void>): Promise<boolean> {
    if (!(await this.#take())) return false;
    await this.#keepDuring(work);
    return true;
  }

  /** Whether a process holds it. */
  async isHeld(): Promise<boolean> {
    const { _id } = this.#own;
    return (await this.#leases.exists({ _id, $expr: { $gt: ['$until', '$$NOW'] } })) !== null;
  }

  /** Whether no other process can take it for so many milliseconds. */
  lasts(ms: number): boolean {
    return Date.now() + ms < this.#until;
  }

  /** @throws SchemaError if another process may have taken it, as after a suspension */
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
      // A renewal in progress would take it again.
      await renewal;
      // Otherwise it expires, and the result of the work matters more.
      await this.#leases.deleteOne(this.#own).catch(() => undefined);
    }
  }

  async #renewUntil(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await sleep(RENEW_MS, undefined, { signal: ending }).catch(() => undefined);
      // A failure is retried; `check` notices if it was too late.
      if (!ending.aborted) await this.#take().catch(() => undefined);
    }
  }

  async #take(): Promise<boolean> {
    const { _id, holder } = this.#own;
    const until = Date.now() + LEASE_MS;
    // Mongoose casts no expressions.
    const { collection } = this.#leases;
    const taken = [{ $set: { holder, until: { $add: ['$$NOW', LEASE_MS] } } }];
    try {
      await collection.updateOne(this.#own as object, taken, { upsert: true });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Another process holds it, or has held it. An upsert takes no expressions in its filter.
      const isOver = { _id, $expr: { $lte: ['$until', '$$NOW'] } } as object;
      if ((await collection.updateOne(isOver, taken)).matchedCount === 0) return false;
    }
    this.#until = until;
    return true;
  }
}
