import { createHash } from 'node:crypto';

import { type Model, Schema } from 'mongoose';

import { ApiError, idempotencyConflict, idempotencyMismatch } from '../errors';
import type { Database } from './database';
import { defineModel } from './models';
import type { Transaction } from './transaction';

/** How long a first answer is kept. */
const KEPT_SECONDS = 24 * 60 * 60;

/** A first answer, kept to be given again. */
export interface KeptAnswer {
  status: number;
  body: string;
}

interface KeptAnswerDocument extends KeptAnswer {
  userId: string;
  key: string;
  /** SHA-256 of the request, so that another request under the same key is noticed. */
  request: string;
  createdAt: Date;
}

export const keptAnswerModel = defineModel<KeptAnswerDocument>({
  name: 'KeptAnswer',
  owner: 'account',
  schema: new Schema<KeptAnswerDocument>(
    {
      userId: { type: String, required: true },
      key: { type: String, required: true },
      request: { type: String, required: true },
      status: { type: Number, required: true },
      body: { type: String, required: true },
      createdAt: { type: Date, required: true },
    },
    { collection: 'keptAnswers', versionKey: false },
  )
    // Finds the first answer to a retried request, and lets only one be kept.
    .index({ userId: 1, key: 1 }, { unique: true })
    // Lets MongoDB sweep out what is out of date.
    .index({ createdAt: 1 }, { expireAfterSeconds: KEPT_SECONDS }),
});

/** Identifies a retried request: the same key, account and request. */
export interface RequestIdentity {
  userId: string;
  key: string;
  fingerprint: string;
}

/** What makes two requests the same; the members of a JSON object have no order. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  const text = JSON.stringify([method, path, body], (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * First answers by Idempotency-Key (decisions.md, "Retries"). An answer is written in the
 * transaction of its effect, so there is never one without the other.
 */
export class KeptAnswers {
  readonly #model: Model<KeptAnswerDocument>;
  readonly #running = new Set<string>();

  constructor(database: Database) {
    this.#model = database.model(keptAnswerModel);
  }

  /**
   * Runs `work` unless an answer to this very request is kept; then answers that.
   *
   * @throws ApiError idempotency_conflict while the first is running in this process,
   *   idempotency_mismatch when the key came with another request before
   */
  async once(
    request: RequestIdentity,
    work: () => Promise<KeptAnswer>,
  ): Promise<{ answer: KeptAnswer; replayed: boolean }> {
    const id = JSON.stringify([request.userId, request.key]);
    if (this.#running.has(id)) throw idempotencyConflict.error();
    this.#running.add(id);
    try {
      const kept = await this.#find(request);
      if (kept) return { answer: kept, replayed: true };
      try {
        return { answer: await work(), replayed: false };
      } catch (error) {
        // Another process was first; what it did is in the way of ours, and is the answer.
        // A transaction may see it before the majority has it, so this looks at the very latest.
        const winner = mayBeSecond(error) ? await this.#find(request, 'linearizable') : undefined;
        if (winner) return { answer: winner, replayed: true };
        throw error;
      }
    } finally {
      this.#running.delete(id);
    }
  }

  /** Keeps an answer: with its effect when `tx` is given. */
  async keep(request: RequestIdentity, answer: KeptAnswer, tx?: Transaction): Promise<void> {
    const { userId, key, fingerprint } = request;
    // Takes the place of one that is out of date but not yet swept; one that is not makes it fail.
    await this.#model.replaceOne(
      { userId, key, createdAt: { $lte: oldest() } },
      { userId, key, request: fingerprint, ...answer, createdAt: new Date() },
      { upsert: true, ...(tx ? { session: tx.session } : {}) },
    );
  }

  async #find(
    request: RequestIdentity,
    readConcern: 'majority' | 'linearizable' = 'majority',
  ): Promise<KeptAnswer | undefined> {
    const { userId, key } = request;
    const kept = await this.#model
      .findOne({ userId, key, createdAt: { $gt: oldest() } })
      .readConcern(readConcern)
      .maxTimeMS(5000)
      .lean();
    if (!kept) return undefined;
    if (kept.request !== request.fingerprint) throw idempotencyMismatch.error();
    return { status: kept.status, body: kept.body };
  }
}

function oldest(): Date {
  return new Date(Date.now() - KEPT_SECONDS * 1000);
}

/** Whether a failure may be due to the first: its answer is there, or it took the last place. */
function mayBeSecond(error: unknown): boolean {
  return isDuplicateKey(error) || (error instanceof ApiError && error.status === 403);
}

function isDuplicateKey(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 11000;
}
