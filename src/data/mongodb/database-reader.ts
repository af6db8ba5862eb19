import { mongo } from 'mongoose';

import { APP_NAME } from './orphans';

/** Error codes: the snapshot is too old, or unavailable. */
const SNAPSHOT_GONE = new Set<unknown>([239, 246]);
/** Time-out of a command: a batch of large documents on a slow disk. */
const COMMAND_MS = 60_000;

/** How many seconds MongoDB keeps snapshots by default. */
const DEFAULT_WINDOW = 300;
/** The same of a managed MongoDB during a backup. */
const LONG_WINDOW = 24 * 60 * 60;

/** The snapshot is no longer available: it is too old, or an index was created since. */
export class SnapshotGoneError extends Error {}

/**
 * Reads whole collections from one snapshot, while others write. It uses no transaction, so it is only
 * limited by how long MongoDB keeps snapshots (`minSnapshotHistoryWindowInSeconds`).
 */
export class DatabaseReader {
  readonly #database: mongo.Db;
  readonly #clusterTime: mongo.Timestamp;

  private constructor(
    client: mongo.MongoClient,
    clusterTime: mongo.Timestamp,
    /** Closes the connection, and restores the history window of a managed MongoDB. */
    readonly close: () => Promise<void>,
    readonly collections: readonly string[],
    readonly mongodbVersion: string,
  ) {
    this.#database = client.db();
    this.#clusterTime = clusterTime;
  }

  /**
   * Connects and takes a snapshot with all acknowledged writes.
   *
   * @param isManaged whether MongoDB is managed; it then keeps snapshots for longer
   */
  static async open(uri: string, isManaged: boolean): Promise<DatabaseReader> {
    const client = new mongo.MongoClient(uri, {
      appName: APP_NAME,
      maxPoolSize: 2,
      socketTimeoutMS: COMMAND_MS,
      readPreference: 'primary',
    });
    const close = async (): Promise<void> => {
      try {
        // Another backup that takes longer starts over.
        if (isManaged) await keepSnapshots(client, DEFAULT_WINDOW);
      } finally {
        await client.close();
      }
    };
    try {
      if (isManaged) await keepSnapshots(client, LONG_WINDOW);
      const database = client.db();
      const collections = (await collectionNames(database)).sort();
      const { cursor } = await database.command({
        find: collections[0] ?? 'none',
        limit: 1,
        readConcern: { level: 'snapshot' },
      });
      const { version } = await database.admin().serverInfo();
      // A read with this concern returns the time of its snapshot.
      const { atClusterTime } = cursor as { atClusterTime: mongo.Timestamp };
      return new DatabaseReader(client, atClusterTime, close, collections, String(version));
    } catch (error) {
      // Its failure would hide the cause.
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** The time of the snapshot, to the second. */
  get moment(): Date {
    return new Date(this.#clusterTime.getHighBitsUnsigned() * 1000);
  }

  /** The approximate number of documents. */
  async estimatedDocuments(): Promise<number> {
    const counts = await Promise.all(
      this.collections.map((name) => this.#database.collection(name).estimatedDocumentCount()),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * The documents of a collection as BSON, in no order.
   *
   * @throws SnapshotGoneError if the snapshot is no longer available
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
        // With `raw` the driver returns bytes, unlike its types.
        const bytes: unknown = document;
        if (!Buffer.isBuffer(bytes)) throw new Error('MongoDB’s driver returns no bytes.');
        yield bytes;
      }
    } catch (error) {
      if (!(error instanceof mongo.MongoServerError) || !SNAPSHOT_GONE.has(error.code)) throw error;
      throw new SnapshotGoneError('The snapshot is no longer available.', { cause: error });
    } finally {
      await found.close();
    }
  }

  /** The ids of the documents of a collection with a `finishedAt`. */
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

async function keepSnapshots(client: mongo.MongoClient, seconds: number): Promise<void> {
  const command = { setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds };
  await client.db('admin').command(command);
}

/** The names of the collections of a database, without views and MongoDB's own. */
export async function collectionNames(database: mongo.Db): Promise<string[]> {
  const listed = await database.listCollections({ type: 'collection' }).toArray();
  return listed.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}
