import { type ClientSession, Schema } from 'mongoose';

import { type ApiError, rateLimited } from '../../core/errors';
import { DAY_MS } from '../../core/time';
import type { Database } from '../mongodb/database';
import { accountModel } from '../model/models';
import type { Transaction } from '../writing/transaction';

/** How many bytes of responses an account has stored on a day. */
interface IdempotencyUsageDocument {
  userId: string;
  /** Its first moment in UTC. */
  day: Date;
  bytes: number;
}

export const idempotencyUsageModel = accountModel<IdempotencyUsageDocument>(
  'IdempotencyUsage',
  new Schema<IdempotencyUsageDocument>(
    {
      userId: { type: String, required: true },
      day: { type: Date, required: true },
      bytes: { type: Number, required: true },
    },
    { collection: 'idempotencyUsage' },
  )
    // What an account has stored on a day.
    .index({ userId: 1, day: 1 }, { unique: true }),
);

/**
 * What accounts store for Idempotency-Keys, bounded by day: responses expire by themselves, but not
 * on the day on which they were stored.
 */
export class IdempotencyUsage {
  readonly #database: Database;
  readonly #usage;
  readonly #maxBytes: number;
  /** What accounts have stored by now, as a transaction sees it. */
  readonly #stored = new WeakMap<ClientSession, Map<string, number>>();

  /** @param maxBytes how much an account may store on a day */
  constructor(database: Database, maxBytes: number) {
    this.#database = database;
    this.#usage = database.model(idempotencyUsageModel);
    this.#maxBytes = maxBytes;
  }

  /** Has MongoDB delete what is of former days, from now on. */
  deleteExpired(): Promise<void> {
    return this.#database.expire(idempotencyUsageModel, 'day', (2 * DAY_MS) / 1000);
  }

  /** @throws ApiError rate_limited where it is more than an account may store on a day */
  async add(tx: Transaction, bytes: number): Promise<void> {
    const day = dayOf(tx.now);
    const known = this.#stored.get(tx.session) ?? new Map<string, number>();
    const stored = await this.#added(tx, day, bytes, known.get(tx.userId));
    if (stored > this.#maxBytes) throw tooMuch(day, tx.now);
    this.#stored.set(tx.session, known.set(tx.userId, stored));
  }

  /** An account's first of a transaction learns what is stored, and its others are sent together. */
  async #added(
    tx: Transaction,
    day: Date,
    bytes: number,
    known: number | undefined,
  ): Promise<number> {
    const update = { $inc: { bytes } };
    if (known === undefined) {
      const options = { upsert: true, returnDocument: 'after' } as const;
      const usage = await this.#usage.findOneAndUpdate({ day }, update, options).of(tx).lean();
      return usage?.bytes ?? bytes;
    }
    const { userId, session } = tx;
    const filter = { userId, day };
    await this.#usage.bulkWrite([{ updateOne: { filter, update, upsert: true } }], { session });
    return known + bytes;
  }

  /** How many bytes an account has stored on a day. */
  async read(tx: Transaction, day: Date): Promise<number> {
    return (await this.#usage.findOne({ day }).of(tx).lean())?.bytes ?? 0;
  }

  async set(tx: Transaction, day: Date, bytes: number): Promise<void> {
    await this.#usage.updateOne({ day }, { $set: { bytes } }, { upsert: true }).of(tx);
  }
}

function tooMuch(day: Date, now: Date): ApiError {
  const seconds = Math.ceil((day.getTime() + DAY_MS - now.getTime()) / 1000);
  return rateLimited.error(
    'The responses stored today for your requests with an Idempotency-Key take as much space as they may; try again tomorrow, or without the header.',
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** The first moment of a moment's day, in UTC. */
export function dayOf(moment: Date): Date {
  return new Date(moment.getTime() - (moment.getTime() % DAY_MS));
}
