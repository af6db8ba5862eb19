import { createHmac, randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import { Schema } from 'mongoose';

import type { Database } from '../mongodb/database';
import { sharedModel } from '../model/models';

interface LogKeyDocument {
  _id: string;
  key: Buffer;
}

/** The id of the key in the database. */
const KEY_ID = 'accounts';
const KEY_BYTES = 32;
/** Enough that collisions are unlikely among a billion accounts. */
const HASH_CHARACTERS = 22;
const MAX_CACHED = 10_000;

export const logKeyModel = sharedModel<LogKeyDocument>(
  'LogKey',
  'the logs of all processes name accounts by the same key',
  { oneShard: 'one record' },
  new Schema<LogKeyDocument>(
    { _id: { type: String, required: true }, key: { type: Buffer, required: true } },
    { collection: 'logKeys' },
  ),
);

/**
 * The name of an account in the log: an HMAC of its id under a key that is stored in the database. It
 * is the same in all processes, and the log alone does not reveal ids.
 */
export class AccountHash {
  readonly #hashes: LRUCache<string, string>;

  private constructor(key: Buffer) {
    this.#hashes = new LRUCache({
      max: MAX_CACHED,
      memoMethod: (accountId) =>
        createHmac('sha256', key).update(accountId).digest('base64url').slice(0, HASH_CHARACTERS),
    });
  }

  /** Reads the key, or creates it in a new database. */
  static async open(database: Database): Promise<AccountHash> {
    const model = database.model(logKeyModel);
    const made = { $setOnInsert: { key: randomBytes(KEY_BYTES) } };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const { key } = await model.findOneAndUpdate({ _id: KEY_ID }, made, options).orFail();
    return new AccountHash(key);
  }

  of(accountId: string): string {
    return this.#hashes.memo(accountId);
  }
}
