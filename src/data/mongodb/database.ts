import { isDeepStrictEqual } from 'node:util';

import mongoose, { type ClientSession, type Connection } from 'mongoose';
import pLimit from 'p-limit';

import type { Metrics } from '../../core/metrics';
import { withTimeout } from '../../core/async/timeout';
import { failWritesToClosedSockets } from './driver-sockets';
import type { AnyModel, ModelDefinition, ModelOf } from '../model/models';
import { mayRetry } from './errors';
import { APP_NAME } from './orphans';
import { measurePool } from './pool-metrics';
import { UnfinishedRestoreError, hasUnfinishedRestore } from './restore-marker';
import { acceptStoredIds } from '../model/stored-ids';

/** How many connections to MongoDB a process has at most. */
const MAX_CONNECTIONS = 50;
/** How many transactions there are at once that no account's queue orders. */
const MAX_OTHER_TRANSACTIONS = 8;
/** How long MongoDB may take to say that it is there. */
const PING_MS = 2000;
/**
 * How long a command may take. One that is lost on the way is then sent again on another connection
 * while its caller still waits.
 */
const COMMAND_MS = 6000;
/** How often a read at one moment is tried: once more is enough where MongoDB is there. */
const SNAPSHOT_ATTEMPTS = 2;
/** When none is tried again: more than a lost command takes, and less than a majority that is gone. */
const SNAPSHOT_RETRY_MS = 8000;

/** Writes are there to stay once they are answered. */
const WRITE_CONCERN = { w: 'majority', journal: true } as const;

/** A transaction sees one moment, and its writes are there to stay once it is committed. */
export const TRANSACTION_OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: WRITE_CONCERN,
} as const;

acceptStoredIds();
failWritesToClosedSockets();

/** The connection to MongoDB, and the models on it. */
export class Database {
  readonly connection: Connection;
  readonly #metrics: Metrics;
  readonly #transactions = pLimit(MAX_OTHER_TRANSACTIONS);
  #isClosed = false;
  #isSharded = false;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.connection = mongoose.createConnection();
    // A query that is sent while there is no connection fails at once instead of piling up, and
    // nothing is made behind our back. `set` would have no effect: it only changes what is there.
    Object.assign(this.connection.config as object, {
      bufferCommands: false,
      autoIndex: false,
      autoCreate: false,
    });
  }

  /** The model of a definition. Defined once, then the same. */
  model<T, Owner>({ name, schema }: ModelDefinition<T, Owner>): ModelOf<T, Owner> {
    const model = this.connection.models[name] ?? this.connection.model(name, schema);
    // A name belongs to one definition (the loader checks it), so the types agree.
    return model as unknown as ModelOf<T, Owner>;
  }

  /** Whether data is spread over shards, as far as is known. */
  get isSharded(): boolean {
    return this.#isSharded;
  }

  /** All models that were defined. */
  get models(): AnyModel[] {
    return Object.values(this.connection.models);
  }

  /**
   * Connects; a `StoredSchema` then makes sure that collections and indexes are there.
   *
   * @param restoring whether it is to restore a backup, and data need not be whole
   * @throws UnfinishedRestoreError where data is not whole
   */
  async connect(uri: string, { restoring = false } = {}): Promise<void> {
    const opened = this.connection.openUri(uri, {
      appName: APP_NAME,
      maxPoolSize: MAX_CONNECTIONS,
      // A primary that is gone, or hangs, is noticed within the time that a caller still waits.
      serverSelectionTimeoutMS: 3000,
      heartbeatFrequencyMS: 3000,
      connectTimeoutMS: 5000,
      socketTimeoutMS: COMMAND_MS,
      writeConcern: WRITE_CONCERN,
      readConcern: { level: 'majority' },
      // What others may be behind with, answers must not be.
      readPreference: 'primary',
    });
    const client = this.connection.getClient();
    measurePool(client, this.#metrics);
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#isSharded = newDescription.type === 'Sharded';
    });
    await opened;
    const { name } = this.connection;
    if (!restoring && (await hasUnfinishedRestore(this.connection.getClient().db(name)))) {
      throw new UnfinishedRestoreError(name);
    }
  }

  /** Has MongoDB delete the documents of a collection some time after a moment that they hold. */
  async expire(
    definition: ModelDefinition,
    field: string,
    expireAfterSeconds: number,
  ): Promise<void> {
    const { collection } = this.model(definition);
    const keyPattern = { [field]: 1 };
    const indexes = await collection.indexes();
    const index = indexes.find(({ key }) => isDeepStrictEqual(key, keyPattern));
    if (!index) {
      await collection.createIndex(keyPattern, { expireAfterSeconds }, {});
    } else if (index.expireAfterSeconds !== expireAfterSeconds) {
      // An index that is there cannot be made with another time.
      const change = { keyPattern, expireAfterSeconds };
      await this.connection.db?.command({ collMod: collection.name, index: change });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.connection.close();
  }

  /** Whether MongoDB answers, and soon. */
  async ping(): Promise<boolean> {
    // Once more, as the driver does for reads: a connection that broke says nothing of MongoDB.
    const answered = this.#answers().then((isThere) => isThere || this.#answers());
    return (await withTimeout(PING_MS, answered)) ?? false;
  }

  async #answers(): Promise<boolean> {
    // The driver would connect again.
    if (this.#isClosed) return false;
    return this.connection.db?.admin().command({ ping: 1 }).then(() => true, () => false) ?? false;
  }

  /**
   * Runs `read` in a session all of whose reads see the same moment; again, where MongoDB lost that
   * moment or the connection broke.
   */
  async snapshot<T>(read: (session: ClientSession) => Promise<T>): Promise<T> {
    const start = performance.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#readAtOneMoment(read);
      } catch (error) {
        const isLate = performance.now() - start > SNAPSHOT_RETRY_MS;
        if (attempt === SNAPSHOT_ATTEMPTS || isLate || !mayRetry(error)) throw error;
      }
    }
  }

  /**
   * Runs `work` in a transaction that no account's queue orders; again, where it met another.
   * `work` must have no effect outside of it, and begin no other: eight of which each waits for one
   * more would never end.
   */
  async transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return this.#transactions(async () => {
      const session = await this.connection.startSession();
      try {
        return await session.withTransaction(() => work(session), TRANSACTION_OPTIONS);
      } finally {
        await session.endSession();
      }
    });
  }

  async #readAtOneMoment<T>(read: (session: ClientSession) => Promise<T>): Promise<T> {
    const session = await this.connection.startSession();
    try {
      // Not the driver's snapshot session: in it the connection's own read concern prevails, and
      // each read sees its own moment.
      session.startTransaction({ readConcern: { level: 'snapshot' } });
      const value = await read(session);
      await session.commitTransaction();
      return value;
    } finally {
      await session.endSession();
    }
  }
}
