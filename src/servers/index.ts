import { DataDirectory } from './data-directory';
import { explain } from './errors';
import { mongod, ownMongodbUri } from './mongod';
import { OwnServer } from './own-server';
import { OwnServers, type Role } from './own-servers';
import { answers, type Progress } from './lease';
import { redis, redisAnswers } from './redis';

export { ServersError } from './errors';
export type { Progress } from './lease';
export type { Role } from './own-servers';
export { redisVersion } from './redis';

/** The name of the database, unless the URI of one that is given names another. */
export const DATABASE = 'plantcare';

/** DATA_DIR, MONGODB_URI, REDIS_URL and MONGOD_BINARY of the environment. */
export interface ServersConfig {
  dataDir: string;
  /** That of a MongoDB which is there. */
  mongodbUri?: string | undefined;
  redisUrl?: string | undefined;
  mongodBinary?: string | undefined;
}

/** Servers that are ready for use. */
export interface Servers {
  mongodbUri: string;
  /** A URL, or the path of a socket; undefined where there is no Redis to be had. */
  redisUrl: string | undefined;
  /** Whether a server serves from this MongoDB already; undefined where that cannot be known. */
  isServed: boolean | undefined;
  /** What was found, started, used again or is missing, a sentence each. */
  notes: string[];
  /** Stops what nobody else uses any more. It may be called more than once. */
  release: () => Promise<void>;
}

interface ServersOptions {
  role: Role;
  progress?: Progress;
  countRestarts?: (server: string, by: 0 | 1) => void;
  /** Called while a start of MongoDB is waited for, which takes a second: the time for other work. */
  meanwhile?: (() => void) | undefined;
}

/**
 * Has a MongoDB and a Redis serve: those given, those that run already, or new ones.
 *
 * @throws ServersError, whose message is for the operator
 */
export async function acquireServers(
  config: ServersConfig,
  { role, progress = () => undefined, countRestarts = () => undefined, meanwhile }: ServersOptions,
): Promise<Servers> {
  const notes: string[] = [];
  const { mongodbUri, redisUrl } = config;
  if (mongodbUri !== undefined) notes.push('MongoDB is the one of MONGODB_URI.');
  if (redisUrl !== undefined) {
    // One that is away now may come back: limits do without it meanwhile.
    const state = (await redisAnswers(redisUrl)) ? 'is' : 'does not answer now; it is';
    notes.push(`Redis ${state} the one of REDIS_URL.`);
  }
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, isServed: undefined, notes, release: async () => undefined };
  }
  const directory = await DataDirectory.open(config.dataDir);
  const search = { root: directory.root, owner: directory.owner, progress };
  const ownSearch = { ...search, chosen: config.mongodBinary, mayFetch: true };
  const ownMongod = new OwnServer(mongod, directory, ownSearch, meanwhile);
  // A command does without Redis sooner than it waits for a download.
  const ownRedis = new OwnServer(redis, directory, { ...search, mayFetch: role === 'server' });
  const servers = [mongodbUri ?? ownMongod, redisUrl ?? ownRedis];
  const needed = servers.filter((server) => server instanceof OwnServer);
  const own = new OwnServers(directory, needed, role, progress, countRestarts);
  let released: Promise<void> | undefined;
  try {
    notes.push(...(await own.start()));
  } catch (error) {
    await own.release();
    throw explain(error);
  }
  return {
    mongodbUri: mongodbUri ?? ownMongodbUri(ownMongod.socket, DATABASE),
    // One that hangs under another program may answer again: limits do without it meanwhile.
    redisUrl: redisUrl ?? ((await answers(ownRedis.socket)) ? ownRedis.socket : undefined),
    isServed: mongodbUri === undefined ? own.isServed : undefined,
    notes,
    release: async () => (released ??= own.release()),
  };
}
