import { DataDirectory } from './data-directory';
import { explain } from './errors';
import { ManagedServers, type ServersOptions } from './managed-servers';
import { managedMongodbUri } from './mongod';
import { redisAnswers } from './redis';

export type { Progress } from './binaries';
export type { Role } from './data-directory';
export { ServersError } from './errors';
export { redisVersion } from './redis';

/** The name of the database, unless MONGODB_URI names another. */
export const DATABASE = 'plantcare';

/** DATA_DIR, MONGODB_URI, REDIS_URL and MONGOD_BINARY of the environment. */
export interface ServersConfig {
  dataDir: string;
  /** That of an external MongoDB. */
  mongodbUri?: string | undefined;
  redisUrl?: string | undefined;
  mongodBinary?: string | undefined;
}

/** Servers that are ready for use. */
export interface Servers {
  mongodbUri: string;
  /** A URL, or the path of a socket; undefined where there is no Redis. */
  redisUrl: string | undefined;
  /** Whether a server serves from this MongoDB already; undefined where that cannot be known. */
  isServed: boolean | undefined;
  /** What was found, started or is missing, a sentence each. */
  notes: string[];
  /** Stops what was started. It may be called more than once. */
  release: () => Promise<void>;
}

/**
 * Has a MongoDB and a Redis serve: external ones, or managed ones. The server runs the managed ones of
 * a data directory. A command attaches to those, or runs MongoDB itself where no server does.
 *
 * @throws ServersError, whose message is for the operator
 */
export async function acquireServers(
  config: ServersConfig,
  options: ServersOptions,
): Promise<Servers> {
  const { mongodbUri, redisUrl } = config;
  const notes: string[] = [];
  if (mongodbUri !== undefined) notes.push('MongoDB is the one of MONGODB_URI.');
  if (redisUrl !== undefined) {
    // One that is away now may come back: limits do without it meanwhile.
    const state = (await redisAnswers(redisUrl)) ? 'is' : 'does not answer now; it is';
    notes.push(`Redis ${state} the one of REDIS_URL.`);
  }
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, isServed: undefined, notes, release: async () => undefined };
  }
  const managed = new ManagedServers(await DataDirectory.open(config.dataDir), options);
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => (released ??= managed.release());
  const runMongodb = async (): Promise<string> =>
    managedMongodbUri(await managed.runMongodb(config.mongodBinary), DATABASE);
  try {
    return {
      mongodbUri: mongodbUri ?? (await runMongodb()),
      redisUrl: redisUrl ?? (await managed.runRedis()),
      isServed: mongodbUri === undefined ? managed.isServed : undefined,
      notes: [...notes, ...managed.notes],
      release,
    };
  } catch (error) {
    await release();
    throw explain(error);
  }
}
