import { createHash } from 'node:crypto';

import { type Model, Schema } from 'mongoose';

import { ApiError, idempotencyConflict, idempotencyMismatch } from '../core/errors';
import { HOUR_MS } from '../core/time';
import { codeOf, isRecord, sortMembers } from '../core/values';
import type { Database } from './database';
import { accountModel } from './models';
import type { Transaction } from './transaction';

/** The response to the first request under a key, for its retries. */
export interface StoredResponse {
  status: number;
  body: string;
}

interface IdempotencyKeyDocument extends StoredResponse {
  userId: string;
  key: string;
  /** SHA-256 of the request, so that another request under the same key is noticed. */
  request: string;
  createdAt: Date;
}

export const idempotencyKeyModel = accountModel<IdempotencyKeyDocument>(
  'IdempotencyKey',
  new Schema<IdempotencyKeyDocument>(
    {
      userId: { type: String, required: true },
      key: { type: String, required: true },
      request: { type: String, required: true },
      status: { type: Number, required: true },
      body: { type: String, required: true },
      createdAt: { type: Date, required: true },
    },
    // The name that earlier versions gave it: their data opens in this one.
    { collection: 'keptAnswers', versionKey: false },
  )
    // Finds the response to a retried request, and lets only one be stored.
    .index({ userId: 1, key: 1 }, { unique: true }),
);

/** Identifies a retried request: the same key, account and request. */
export interface RequestIdentity {
  userId: string;
  key: string;
  fingerprint: string;
}

/** What makes two requests the same; the members of a JSON object have no order. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  const text = JSON.stringify([method, path, body], (_key, value: unknown) =>
    isRecord(value) ? sortMembers(value) : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Responses by Idempotency-Key (docs/decisions.md, "Retries"). A response is written in the
 * transaction of its effect, so there is never one without the other.
 */
export class IdempotencyStore {
  readonly #model: Model<IdempotencyKeyDocument>;
  readonly #running = new Set<string>();
  readonly #database: Database;
  readonly #keepHours: number;

  /** @param keepHours how long a response is stored */
  constructor(database: Database, keepHours: number) {
    this.#database = database;
    this.#keepHours = keepHours;
    this.#model = database.model(idempotencyKeyModel);
  }

  /** Has MongoDB delete what has expired, from now on. */
  deleteExpired(): Promise<void> {
    return this.#database.expire(idempotencyKeyModel, 'createdAt', this.#keepMs / 1000);
  }

  /**
   * Runs `work` unless a response to this very request is stored; then answers that.
   *
   * @throws ApiError idempotency_conflict while the first is running in this process,
   *   idempotency_mismatch when the key came with another request before
   */
  async runOnce(
    request: RequestIdentity,
    work: () => Promise<StoredResponse>,
  ): Promise<{ response: StoredResponse; replayed: boolean }> {
    const id = JSON.stringify([request.userId, request.key]);
    if (this.#running.has(id)) throw idempotencyConflict.error();
    this.#running.add(id);
    try {
      const stored = await this.#find(request);
      if (stored) return { response: stored, replayed: true };
      try {
        return { response: await work(), replayed: false };
      } catch (error) {
        // Another process was first; what it did is in the way of ours, and is the answer.
        // A transaction may see it before the majority has it, so this looks at the very latest.
        const winner = mayBeSecond(error) ? await this.#find(request, 'linearizable') : undefined;
        if (winner) return { response: winner, replayed: true };
        throw error;
      }
    } finally {
      this.#running.delete(id);
    }
  }

  /** Stores a response: with its effect when `tx` is given. */
  async store(request: RequestIdentity, response: StoredResponse, tx?: Transaction): Promise<void> {
    const { userId, key, fingerprint } = request;
    // Replaces one that has expired but is not yet deleted; one that has not makes it fail.
    await this.#model.replaceOne(
      { userId, key, createdAt: { $lte: this.#oldest() } },
      { userId, key, request: fingerprint, ...response, createdAt: new Date() },
      { upsert: true, ...(tx ? { session: tx.session } : {}) },
    );
  }

  async #find(
    request: RequestIdentity,
    readConcern: 'majority' | 'linearizable' = 'majority',
  ): Promise<StoredResponse | undefined> {
    const { userId, key } = request;
    const stored = await this.#model
      .findOne({ userId, key, createdAt: { $gt: this.#oldest() } })
      .readConcern(readConcern)
      .maxTimeMS(5000)
      .lean();
    if (!stored) return undefined;
    if (stored.request !== request.fingerprint) throw idempotencyMismatch.error();
    return { status: stored.status, body: stored.body };
  }

  #oldest(): Date {
    return new Date(Date.now() - this.#keepMs);
  }

  get #keepMs(): number {
    return this.#keepHours * HOUR_MS;
  }
}

/** Whether a failure may be due to the first: its answer is there, or it took the last place. */
function mayBeSecond(error: unknown): boolean {
  return isDuplicateKey(error) || (error instanceof ApiError && error.status === 403);
}

function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === 11000;
}
