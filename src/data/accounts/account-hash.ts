import { createHmac, randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import { Schema } from 'mongoose';

import type { Database } from '../mongodb/database';
import { sharedModel } from '../model/models';

interface LogKeyDocument {
  _id: string;
  key: Buffer;
}

const ACCOUNTS = 'accounts';
const KEY_BYTES = 32;
/** Enough that no two of a billion accounts are likely to be taken for one. */
const HASH_CHARACTERS = 22;
/** Accounts of which a process keeps the hash in mind. */
const MAX_KNOWN = 10_000;

export const logKeyModel = sharedModel<LogKeyDocument>(
  'LogKey',
  'the logs of all processes name accounts by the same key',
  new Schema<LogKeyDocument>(
    { _id: { type: String, required: true }, key: { type: Buffer, required: true } },
    { collection: 'logKeys' },
  ),
);

/**
 * What accounts are called in the log: an HMAC of their ids by a key that only the database has. It
 * is the same in all processes and at all times, and nobody who has the log alone can try out names.
 */
export class AccountHash {
  readonly #key: Buffer;
  /** Most requests are of an account that was there a moment ago. */
  readonly #known = new LRUCache<string, string>({ max: MAX_KNOWN });

  private constructor(key: Buffer) {
    this.#key = key;
  }

  /** Reads the key, which the first program on a database makes. */
  static async open(database: Database): Promise<AccountHash> {
    const model = database.model(logKeyModel);
    const made = { $setOnInsert: { key: randomBytes(KEY_BYTES) } };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const { key } = await model.findOneAndUpdate({ _id: ACCOUNTS }, made, options).orFail();
    return new AccountHash(key);
  }

  of(accountId: string): string {
    const known = this.#known.get(accountId);
    if (known !== undefined) return known;
    const whole = createHmac('sha256', this.#key).update(accountId).digest('base64url');
    const hash = whole.slice(0, HASH_CHARACTERS);
    this.#known.set(accountId, hash);
    return hash;
  }
}
