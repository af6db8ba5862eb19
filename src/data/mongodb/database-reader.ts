import { mongo } from 'mongoose';

import { collectionNames } from '../model/collections';
import { keepHistory, READER_NAME, releaseHistory } from '../changes/snapshot-history';

/** Codes of errors by which MongoDB says that it has not kept a moment long enough. */
const MOMENT_IS_GONE = new Set<unknown>([239, 246]);
/** How long a command may take: a batch of large documents on a slow disk, and nobody waits. */
const COMMAND_MS = 60_000;

/** The moment that is read is not to be had: it is too old, or an index was made since. */
export class MomentGoneError extends Error {}

/**
 * Reads whole collections as they all were at one moment, whatever is written meanwhile. No
 * transaction does it, so there is no limit but how long MongoDB keeps the past
 * (`minSnapshotHistoryWindowInSeconds`).
 */
export class DatabaseReader {
  readonly #database: mongo.Db;
  readonly #clusterTime: mongo.Timestamp;

  private constructor(
    client: mongo.MongoClient,
    clusterTime: mongo.Timestamp,
    /** Ends the reading; has a managed MongoDB keep the past as briefly as before. */
    readonly close: () => Promise<void>,
    readonly collections: readonly string[],
    readonly mongodbVersion: string,
  ) {
    this.#database = client.db();
    this.#clusterTime = clusterTime;
  }

  /**
   * Connects and chooses the moment: now. It has all writes that were acknowledged before.
   *
   * @param isManaged whether MongoDB is a managed one, which then keeps the past for longer
   */
  static async open(uri: string, isManaged: boolean): Promise<DatabaseReader> {
    const client = new mongo.MongoClient(uri, {
      appName: READER_NAME,
      maxPoolSize: 2,
      socketTimeoutMS: COMMAND_MS,
      readPreference: 'primary',
    });
    const close = async (): Promise<void> => {
      await client.close();
      if (isManaged) await releaseOwn(uri);
    };
    try {
      if (isManaged) await keepHistory(client);
      const database = client.db();
      const collections = (await collectionNames(database)).sort();
      const { cursor } = await database.command({
        find: collections[0] ?? 'none',
        limit: 1,
        readConcern: { level: 'snapshot' },
      });
      const { version } = await database.admin().serverInfo();
      // MongoDB's own answers: a read with this concern says which moment it saw.
      const { atClusterTime } = cursor as { atClusterTime: mongo.Timestamp };
      return new DatabaseReader(client, atClusterTime, close, collections, String(version));
    } catch (error) {
      // Its own failure would hide why.
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** The moment that is read, to the second. */
  get moment(): Date {
    return new Date(this.#clusterTime.getHighBitsUnsigned() * 1000);
  }

  /** About how many documents there are. */
  async estimatedDocuments(): Promise<number> {
    const counts = await Promise.all(
      this.collections.map((name) => this.#database.collection(name).estimatedDocumentCount()),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * The documents of a collection as BSON, in no order.
   *
   * @throws MomentGoneError where MongoDB does not have the moment any more
   */
  async *documents(collection: string): AsyncGenerator<Buffer> {
    const found = this.#database.runCursorCommand(
      {
        find: collection,
        readConcern: { level: 'snapshot', atClusterTime: this.#clusterTime },
      },
      { raw: true },
    );
    try {
      for await (const document of found) {
        // With `raw` the driver gives the bytes that came, and its types what they stand for.
        const bytes: unknown = document;
        if (!Buffer.isBuffer(bytes)) throw new Error('MongoDB’s driver gives no bytes.');
        yield bytes;
      }
    } catch (error) {
      if (!(error instanceof mongo.MongoServerError) || !MOMENT_IS_GONE.has(error.code)) throw error;
      throw new MomentGoneError('MongoDB does not have that moment any more.', { cause: error });
    } finally {
      await found.close();
    }
  }

  /** The ids of the documents of a collection that say when they were finished; none without it. */
  async finishedIds(collection: string): Promise<string[]> {
    if (!this.collections.includes(collection)) return [];
    const ids: string[] = [];
    for await (const document of this.documents(collection)) {
      const { _id, finishedAt } = mongo.BSON.deserialize(document);
      if (finishedAt instanceof Date) ids.push(String(_id));
    }
    return ids.sort();
  }
}

/** On a connection of its own, for those of the reader say that it reads. */
async function releaseOwn(uri: string): Promise<void> {
  const limits = { serverSelectionTimeoutMS: 2000, socketTimeoutMS: COMMAND_MS };
  const client = new mongo.MongoClient(uri, { maxPoolSize: 1, ...limits });
  try {
    await releaseHistory(client);
  } finally {
    await client.close();
  }
}
