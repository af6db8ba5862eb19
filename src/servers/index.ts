import path from 'node:path';

import { DataDirectory } from './data-directory';
import { explain, ServersError } from './errors';
import { ManagedServers, type ServersOptions } from './managed-servers';
import { managedMongodbUri } from './mongod';
import { redisResponds } from './redis';

export type { Progress } from './binaries';
export type { Role } from './data-directory';
export { ServersError } from './errors';

/** The default name of the database. */
export const DATABASE = 'plantcare';

/** The values of DATA_DIR, MONGODB_URI, REDIS_URL and MONGOD_BINARY. */
export interface ServersConfig {
  dataDir: string;
  /** Set for an external MongoDB. */
  mongodbUri?: string | undefined;
  redisUrl?: string | undefined;
  mongodBinary?: string | undefined;
}

export interface Servers {
  mongodbUri: string;
  /** A URL, or the path of a socket; undefined without a Redis. */
  redisUrl: string | undefined;
  /** Whether a server process uses this MongoDB; undefined for an external one. */
  isServed: boolean | undefined;
  /** Sentences that say what was found, started or is missing. */
  notes: string[];
  /** Stops the servers that were started. It may be called more than once. */
  release: () => Promise<void>;
}

/**
 * Provides a MongoDB and a Redis, external or managed. A server process runs the managed ones of a data
 * directory. A command attaches to them, or runs MongoDB itself if no server process does.
 *
 * @throws ServersError
 */
export async function acquireServers(
  config: ServersConfig,
  options: ServersOptions,
): Promise<Servers> {
  const { mongodbUri, redisUrl } = config;
  const notes: string[] = [];
  if (mongodbUri !== undefined) notes.push('Using the MongoDB of MONGODB_URI.');
  if (redisUrl !== undefined) {
    // It may come back later; until then, rate limits work without it.
    const state = (await redisResponds(redisUrl)) ? '' : ', which does not respond now';
    notes.push(`Using the Redis of REDIS_URL${state}.`);
  }
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, isServed: undefined, notes, release: async () => undefined };
  }
  const { dataDir } = config;
  if (mongodbUri === undefined && options.needsData && !(await DataDirectory.isInUse(dataDir))) {
    throw new ServersError(
      `There is no data in ${path.resolve(dataDir)}: set DATA_DIR to the folder that has it.`,
    );
  }
  if (
    mongodbUri !== undefined &&
    options.role === 'tool' &&
    !(await DataDirectory.isInUse(dataDir))
  ) {
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
