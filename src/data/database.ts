import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import mongoose, { type ClientSession, type Connection, type Model, mongo } from 'mongoose';

import { guardUserData } from './guard';
import type { ModelDefinition, ScopeOf } from './models';
import { mayRetry, PreparationError, preparationError } from './mongodb-errors';
import { APP_NAME } from './orphans';
import { Records } from './records';
import { holdsHalfARestore } from './restore-marker';

/** How long MongoDB may take to say that it is there. */
const PING_MS = 2000;
/**
 * How long a command may take. One that is lost on the way is then sent again on another connection
 * while its caller still waits.
 */
const COMMAND_MS = 6000;
/** How often a read at one moment is tried: once more is enough where MongoDB is there. */
const SNAPSHOT_ATTEMPTS = 2;

/** The connection to MongoDB, and the models on it. */
export class Database {
  readonly connection: Connection;

  constructor() {
    this.connection = mongoose.createConnection();
    // A query that is sent while there is no connection fails at once instead of piling up, and
    // nothing is made behind our back. `set` would have no effect: it only changes what is there.
    Object.assign(this.connection.config as object, {
      bufferCommands: false,
      autoIndex: false,
      autoCreate: false,
    });
  }

  /** The model of a definition, guarded when it holds user data. Defined once, then the same. */
  model<T>(definition: ModelDefinition<T, unknown>): Model<T> {
    const existing = this.connection.models[definition.name];
    // A name belongs to one definition (the loader checks it), so the types agree.
    if (existing) return existing as Model<T>;
    const model = this.connection.model(definition.name, definition.schema) as unknown as Model<T>;
    // The guard looks at names and arguments only, whatever the model holds.
    if (definition.owner === 'account') guardUserData(model as unknown as Model<unknown>);
    return model;
  }

  /** The records of a definition. */
  records<T extends object, Owner>(
    definition: ModelDefinition<T, Owner>,
  ): Records<T, ScopeOf<Owner>> {
    return new Records(this.model(definition));
  }

  /**
   * Connects and makes sure that collections and indexes are there.
   *
   * @param restoring whether it is to restore a backup, and data need not be whole
   * @throws PreparationError where they are not and cannot be made, or data is not whole
   */
  async connect(uri: string, { restoring = false } = {}): Promise<void> {
    await this.connection.openUri(uri, {
      appName: APP_NAME,
      maxPoolSize: 50,
      // A primary that is gone, or hangs, is noticed within the time that a caller still waits.
      serverSelectionTimeoutMS: 3000,
      heartbeatFrequencyMS: 3000,
      connectTimeoutMS: 5000,
      socketTimeoutMS: COMMAND_MS,
      writeConcern: { w: 'majority', journal: true },
      readConcern: { level: 'majority' },
      // What others may be behind with, answers must not be.
      readPreference: 'primary',
    });
    const database = this.connection.getClient().db(this.connection.name);
    if (!restoring && (await holdsHalfARestore(database))) {
      throw new PreparationError(
        `The database ${this.connection.name} holds a backup that is being restored, or was restored half way: wait, or run \`backup restore FILE\` again, which starts over.`,
      );
    }
    // In a transaction no collection can be made, so all are made before the first.
    for (const model of Object.values(this.connection.models)) {
      try {
        await model.createCollection();
        await createIndexes(model);
      } catch (error) {
        const { name } = model.collection;
        throw preparationError(error, { database: this.connection.name, collection: name });
      }
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
    await this.connection.close();
  }

  /** Whether MongoDB answers, and soon. */
  async ping(): Promise<boolean> {
    const answered = this.connection.db?.admin().command({ ping: 1 });
    const isThere = answered?.then(
      () => true,
      () => false,
    );
    // What has arrived is read before it is late: the process may have been busy all the while.
    const late = sleep(PING_MS, false, { ref: false }).then(() => setImmediate(false));
    return Promise.race([isThere ?? false, late]);
  }

  /**
   * Runs `read` in a session all of whose reads see the same moment; again, where MongoDB lost that
   * moment or the connection broke.
   */
  async snapshot<T>(read: (session: ClientSession) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#readAtOneMoment(read);
      } catch (error) {
        if (attempt === SNAPSHOT_ATTEMPTS || !mayRetry(error)) throw error;
      }
    }
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

/** Makes the indexes of a model; one that takes longer than a command is waited for. */
async function createIndexes(model: { createIndexes(): Promise<void> }): Promise<void> {
  for (;;) {
    try {
      await model.createIndexes();
      return;
    } catch (error) {
      // MongoDB goes on, and answers the next command when it is done.
      if (!(error instanceof mongo.MongoNetworkTimeoutError)) throw error;
    }
  }
}
