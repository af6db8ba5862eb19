import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { mongo, Schema } from 'mongoose';

import { compress, MIN_COMPRESSED } from '../../core/http/content';
import { withTimeout } from '../../core/async';
import {
  ApiError,
  idempotencyConflict,
  idempotencyMismatch,
  serviceUnavailable,
} from '../../core/errors';
import { hostSettings } from '../../core/settings/host-settings';
import type { Metrics } from '../../core/metrics';
import type { Settings } from '../../core/settings/settings';
import { DAY_MS, HOUR_MS } from '../../core/time';
import { canonicalJson } from '../../core/values';
import type { Database } from '../mongodb/database';
import type { DerivedData } from '../writing/derived';
import { dayOf, IdempotencyUsage, idempotencyUsageModel } from './idempotency-usage';
import { accountModel } from '../model/models';
import { isDuplicateKey } from '../mongodb/errors';
import type { Transaction } from '../writing/transaction';

const inflate = promisify(gunzip);

/** The time limit of a look-up, which may wait for a majority of the replica set. */
const LOOK_UP_MS = 5000;

/** The response to the first request with a key, for its retries. */
export interface StoredResponse {
  status: number;
  body: string;
}

interface IdempotencyKeyDocument {
  userId: string;
  key: string;
  /** SHA-256 of the request, to detect another request with the same key. */
  request: string;
  status: number;
  /** A short body as text, a longer one compressed by gzip. */
  body: string | mongo.Binary;
  /** The size of the rest of this document. */
  bytes: number;
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
      body: { type: Schema.Types.Mixed, required: true },
      bytes: { type: Number },
      createdAt: { type: Date, required: true },
    },
    // Named by an earlier release.
    { collection: 'keptAnswers' },
  )
    // The response to a retry; only one can be stored.
    .index({ userId: 1, key: 1 }, { unique: true }),
);

export const idempotencyModels = [idempotencyKeyModel, idempotencyUsageModel] as const;

/** Identifies a request and its retries. */
export interface RequestIdentity {
  userId: string;
  key: string;
  fingerprint: string;
}

/** A hash that is the same for equal requests; the order of members in objects does not matter. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  const text = canonicalJson([method, path, body]);
  return createHash('sha256').update(text).digest('base64url');
}

/** Stores responses by Idempotency-Key (docs/api.md, "Retries"), in the transaction of the write. */
export class IdempotencyStore {
  readonly #model;
  readonly #running = new Set<string>();
  readonly #database: Database;
  readonly #usage: IdempotencyUsage;
  readonly #replays;
  /** How long a response is stored. */
  readonly #keepMs: number;

  constructor(database: Database, settings: Settings, metrics: Metrics) {
    this.#database = database;
    this.#keepMs = settings.of(hostSettings.idempotencyKeepHours) * HOUR_MS;
    this.#model = database.model(idempotencyKeyModel);
    const maxBytes = settings.of(hostSettings.idempotencyMegabytes) * 1_000_000;
    this.#usage = new IdempotencyUsage(database, maxBytes);
    this.#replays = metrics.counter(
      'idempotent_replays_total',
      'Requests that got the stored response to an earlier one',
    );
  }

  /** Makes MongoDB delete expired responses. */
  async deleteExpired(): Promise<void> {
    await this.#database.expire(idempotencyKeyModel, 'createdAt', this.#keepMs / 1000);
    await this.#usage.deleteExpired();
  }

  /** The usage of an account today, recomputed from the stored responses. */
  get usage(): DerivedData {
    return {
      name: 'stored responses of today',
      rebuild: async (tx) => {
        const day = dayOf(tx.now);
        const counted = await this.#storedOn(tx, day);
        const known = await this.#usage.read(tx, day);
        if (known === counted) return [];
        await this.#usage.set(tx, day, counted);
        return [`${known} bytes should be ${counted}`];
      },
    };
  }

  /**
   * Runs `work`, or returns the response that is stored for the request.
   *
   * @throws ApiError idempotency_conflict while the first request is running in this process,
   *   idempotency_mismatch if the key was used with another request
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
      if (stored) return this.#replay(stored);
      try {
        return { response: await work(), replayed: false };
      } catch (error) {
        // Another process may have been first. Its response may not be majority-committed yet.
        const winner = mayBeSecond(error) ? await this.#find(request, 'linearizable') : undefined;
        if (winner) return this.#replay(winner);
        throw error;
      }
    } finally {
      this.#running.delete(id);
    }
  }

  /**
   * Stores a response in the transaction of the write.
   *
   * @throws ApiError rate_limited over the limit of the day
   */
  async store(tx: Transaction, request: RequestIdentity, response: StoredResponse): Promise<void> {
    const { userId, key, fingerprint } = request;
    const document = {
      request: fingerprint,
      status: response.status,
      body: await compressed(response.body),
      createdAt: tx.now,
    };
    const bytes = mongo.BSON.calculateObjectSize({ userId, key, ...document });
    const stored = { ...document, bytes };
    await this.#usage.add(tx, bytes);
    // Replaces an expired response that is not deleted yet; with any other it fails.
    const filter = { userId, key, createdAt: { $lte: this.#oldest(tx.now) } };
    const update = { $set: stored };
    const { session } = tx;
    await this.#model.bulkWrite([{ updateOne: { filter, update, upsert: true } }], { session });
  }

  #replay(response: StoredResponse): { response: StoredResponse; replayed: true } {
    this.#replays.inc();
    return { response, replayed: true };
  }

  async #storedOn({ userId, session }: Transaction, day: Date): Promise<number> {
    const next = new Date(day.getTime() + DAY_MS);
    const [sum] = await this.#model
      .aggregate<{ bytes: number }>([
        { $match: { userId, createdAt: { $gte: day, $lt: next } } },
        { $group: { _id: null, bytes: { $sum: '$bytes' } } },
      ])
      .session(session);
    return sum?.bytes ?? 0;
  }

  async #find(
    request: RequestIdentity,
    readConcern: 'majority' | 'linearizable' = 'majority',
  ): Promise<StoredResponse | undefined> {
    const { userId, key } = request;
    const query = this.#model
      .findOne({ userId, key, createdAt: { $gt: this.#oldest(new Date()) } })
      .readConcern(readConcern)
      .maxTimeMS(LOOK_UP_MS)
      .lean();
    const stored = await withTimeout(LOOK_UP_MS, query.exec());
    // MongoDB hangs.
    if (stored === undefined) throw serviceUnavailable.error();
    if (stored === null) return undefined;
    if (stored.request !== request.fingerprint) throw idempotencyMismatch.error();
    return { status: stored.status, body: await inflated(stored.body) };
  }

  #oldest(now: Date): Date {
    return new Date(now.getTime() - this.#keepMs);
  }
}

async function compressed(body: string): Promise<string | mongo.Binary> {
  return body.length < MIN_COMPRESSED
    ? body
    : new mongo.Binary(await compress(Buffer.from(body), 'gzip'));
}

async function inflated(body: string | mongo.Binary): Promise<string> {
  return typeof body === 'string' ? body : (await inflate(body.value())).toString();
}

/** The errors of a write if the first request took the last place, or deleted a record that it names. */
const SECOND_REFUSED: readonly number[] = [400, 403, 429];

/** Whether a failure may be the effect of a first request in another process. */
function mayBeSecond(error: unknown): boolean {
  const isRefusal = error instanceof ApiError && SECOND_REFUSED.includes(error.status);
  return isRefusal || isDuplicateKey(error);
}
