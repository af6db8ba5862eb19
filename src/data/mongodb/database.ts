import { isDeepStrictEqual } from 'node:util';

import mongoose, { type ClientSession, type Connection, type mongo } from 'mongoose';
import pLimit from 'p-limit';

import type { Metrics } from '../../core/metrics';
import { withTimeout } from '../../core/async';
import { failWritesToClosedSockets } from './driver-sockets';
import type { AnyModel, ModelDefinition, ModelOf } from '../model/models';
import { checkQueries } from '../model/owner';
import { mayRetry } from './errors';
import { APP_NAME } from './orphans';
import { requireNoRestore } from './restore-marker';

const MAX_CONNECTIONS = 50;
/** Concurrent transactions outside the write queue. */
const MAX_OTHER_TRANSACTIONS = 8;
const PING_MS = 2000;
/** Time-out of a command. A lost one is then retried on another connection while its caller waits. */
const COMMAND_MS = 6000;
const SNAPSHOT_ATTEMPTS = 2;
/** After this time it is not retried: longer than a lost command takes, and shorter than an outage. */
const SNAPSHOT_RETRY_MS = 8000;

const WRITE_CONCERN = { w: 'majority', journal: true } as const;
export const TRANSACTION_OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: WRITE_CONCERN,
} as const;

checkQueries();
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
    // Queries without a connection fail at once, and nothing is created implicitly. `connection.set`
    // would have no effect on `bufferCommands`.
    Object.assign(this.connection.config as object, {
      bufferCommands: false,
      autoIndex: false,
      autoCreate: false,
    });
  }

  /** Returns the model of a definition, which is created on first use. */
  model<T, Owner>({ name, schema }: ModelDefinition<T, Owner>): ModelOf<T, Owner> {
    const model = this.connection.models[name] ?? this.connection.model(name, schema);
    // The loader checks that each name belongs to one definition.
    return model as unknown as ModelOf<T, Owner>;
  }

  /** Whether MongoDB is a sharded cluster; false until it is known. */
  get isSharded(): boolean {
    return this.#isSharded;
  }

  get models(): AnyModel[] {
    return Object.values(this.connection.models);
  }

  /**
   * Connects. `StoredSchema` creates collections and indexes.
   *
   * @param restoring whether a backup is going to be restored
   * @throws OperatorError if a restore is in progress, or was interrupted
   */
  async connect(uri: string, { restoring = false } = {}): Promise<void> {
    const opened = this.connection.openUri(uri, {
      appName: APP_NAME,
      maxPoolSize: MAX_CONNECTIONS,
      // A primary that is gone or hangs is noticed while callers wait.
      serverSelectionTimeoutMS: 3000,
      heartbeatFrequencyMS: 3000,
      connectTimeoutMS: 5000,
      socketTimeoutMS: COMMAND_MS,
      writeConcern: WRITE_CONCERN,
      readConcern: { level: 'majority' },
      // Secondaries may lag behind.
      readPreference: 'primary',
    });
    const client = this.connection.getClient();
    measurePool(client, this.#metrics);
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#isSharded = newDescription.type === 'Sharded';
    });
    await opened;
    if (!restoring) await requireNoRestore(client.db(this.connection.name));
  }

  /** Makes MongoDB delete the documents of a collection some time after the date in a field. */
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
      // An existing index cannot be created with another expiry.
      const change = { keyPattern, expireAfterSeconds };
      await this.connection.db?.command({ collMod: collection.name, index: change });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.connection.close();
  }

  /** Returns whether MongoDB responds within so many milliseconds. */
  async ping(ms = PING_MS): Promise<boolean> {
    // Retried once, as the driver does with reads: only the connection may be broken.
    const responded = this.#responds().then((isThere) => isThere || this.#responds());
    return (await withTimeout(ms, responded)) ?? false;
  }

  async #responds(): Promise<boolean> {
    // The driver would reconnect.
    if (this.#isClosed) return false;
    return (
      this.connection.db
        ?.admin()
        .command({ ping: 1 })
        .then(
          () => true,
          () => false,
        ) ?? false
    );
  }

  /** Runs `read` in a session whose reads see the same snapshot, and retries it once. */
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
   * Yields what `read` yields. Its queries with `of` see the same snapshot, for as long as MongoDB keeps
   * one: 5 minutes, unless `minSnapshotHistoryWindowInSeconds` says otherwise.
   */
  async *snapshotStream<T>(read: (session: ClientSession) => AsyncIterable<T>): AsyncGenerator<T> {
    const session = await this.connection.startSession({ snapshot: true });
    try {
      yield* read(session);
    } finally {
      await session.endSession();
    }
  }

  /**
   * Runs `work` in a transaction outside the write queue, and retries it after a conflict. `work` must
   * have no effect outside the transaction, and must not start another, which could deadlock.
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
      // In the driver's snapshot sessions the read concern of the connection prevails, and each read
      // sees another snapshot.
      session.startTransaction({ readConcern: { level: 'snapshot' } });
      const value = await read(session);
      await session.commitTransaction();
      return value;
    } finally {
      await session.endSession();
    }
  }
}

/** Measures the connection pool of a client; must be called before it connects. */
function measurePool(client: mongo.MongoClient, metrics: Metrics): void {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client
    .on('connectionCreated', () => (open += 1))
    .on('connectionClosed', () => (open -= 1))
    .on('connectionCheckOutStarted', () => (waiting += 1))
    .on('connectionCheckOutFailed', () => (waiting -= 1))
    .on('connectionCheckedOut', () => {
      waiting -= 1;
      inUse += 1;
    })
    .on('connectionCheckedIn', () => (inUse -= 1));
  metrics.reading({
    name: 'mongodb_connections',
    help: 'Connections to MongoDB that are open, and that are in use',
    label: 'state',
    read: () => ({ open, in_use: inUse }),
  });
  metrics.reading({
    name: 'mongodb_connection_waiters',
    help: 'Commands waiting for a connection to MongoDB',
    read: () => waiting,
  });
}
