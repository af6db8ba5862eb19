import { type ClientSession, Schema } from 'mongoose';

import { type ApiError, rateLimited } from '../../core/errors';
import { DAY_MS } from '../../core/time';
import type { Database } from '../mongodb/database';
import { accountModel } from '../model/models';
import type { Transaction } from '../writing/transaction';

/** The bytes of responses that an account stored on a day. */
interface IdempotencyUsageDocument {
  userId: string;
  /** Midnight in UTC. */
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
    // The usage of an account on a day.
    .index({ userId: 1, day: 1 }, { unique: true }),
);

/** Limits the bytes of responses that an account can store on a day; they expire days later. */
export class IdempotencyUsage {
  readonly #database: Database;
  readonly #usage;
  readonly #maxBytes: number;
  /** Usage by account, as a transaction sees it. */
  readonly #stored = new WeakMap<ClientSession, Map<string, number>>();

  /** @param maxBytes the limit of an account for a day */
  constructor(database: Database, maxBytes: number) {
    this.#database = database;
    this.#usage = database.model(idempotencyUsageModel);
    this.#maxBytes = maxBytes;
  }

  /** Makes MongoDB delete the usage of past days. */
  deleteExpired(): Promise<void> {
    return this.#database.expire(idempotencyUsageModel, 'day', (2 * DAY_MS) / 1000);
  }

  /** @throws ApiError rate_limited over the limit of the day */
  async add(tx: Transaction, bytes: number): Promise<void> {
    const day = dayOf(tx.now);
    const known = this.#stored.get(tx.session) ?? new Map<string, number>();
    const stored = await this.#added(tx, day, bytes, known.get(tx.userId));
    if (stored > this.#maxBytes) throw tooMuch(day, tx.now);
    this.#stored.set(tx.session, known.set(tx.userId, stored));
  }

  /** The first update of an account in a transaction returns the total; others are buffered. */
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

  /** The bytes that an account stored on a day. */
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
    'The daily space for responses to requests with an Idempotency-Key is used up; try again tomorrow, or without the header.',
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** Midnight in UTC before a moment. */
export function dayOf(moment: Date): Date {
  return new Date(moment.getTime() - (moment.getTime() % DAY_MS));
}
