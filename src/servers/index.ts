import { checkGiven } from './given';
import type { Role } from './holders';
import { openDataDirectory } from './layout';
import type { ManagedServer } from './managed-server';
import { Occupancy } from './occupancy';
import { ownServers, startMongod, startRedis } from './own-servers';
import type { Progress } from './progress';
import { Supervisor } from './supervisor';

export { ServersError } from './errors';
export type { Progress } from './progress';

/** Where the servers come from; the names in capitals are those of the environment. */
export interface ServersConfig {
  /** DATA_DIR, absolute or relative to the working directory. */
  dataDir: string;
  /** MONGODB_URI: a MongoDB that is used as it is. */
  mongodbUri?: string | undefined;
  /** REDIS_URL: a Redis that is used as it is. */
  redisUrl?: string | undefined;
  /** MONGOD_BINARY: the mongod to start. */
  mongodBinary?: string | undefined;
}

/** Servers that are ready for use. */
export interface Servers {
  /** Names a database; for a MongoDB of the program's own it asks for a direct connection. */
  mongodbUri: string;
  /** Undefined when there is none to be had: limits are then counted in the memory of the process. */
  redisUrl: string | undefined;
  /** For the start-up line: what was found, started, used again or is missing, a sentence each. */
  notes: string[];
  /** Stops what nobody else uses any more. It may be called more than once. */
  release: () => Promise<void>;
}

export interface AcquireOptions {
  /**
   * `server` is the one long-running program of a data directory: a second one is refused, and what
   * dies while it runs is started again on the same port. `tool` is a command, many of which may run
   * beside the server and each other.
   */
  role: Role;
  progress?: Progress;
}

/**
 * Finds or fetches MongoDB and Redis, starts them or shares those that run already, and resolves when
 * they serve. Rejects with a ServersError, whose message is for the operator.
 */
export async function acquireServers(
  config: ServersConfig,
  { role, progress = () => undefined }: AcquireOptions,
): Promise<Servers> {
  const given = await checkGiven(config);
  const { mongodbUri, redisUrl } = given;
  if (mongodbUri !== undefined && redisUrl !== undefined) {
    return { mongodbUri, redisUrl, notes: given.notes, release: async () => undefined };
  }

  const layout = await openDataDirectory(config.dataDir);
  const own = ownServers({ layout, role, progress, mongodBinary: config.mongodBinary });
  const uses = [mongodbUri ?? own.mongod, redisUrl ?? own.redis].filter(
    (one) => typeof one !== 'string',
  );
  const occupancy = new Occupancy(
    layout,
    role,
    uses.map(({ name }) => name),
    progress,
  );
  const notes = [...given.notes];
  const served = await occupancy.begin(async (use) => ({
    mongodbUri: mongodbUri ?? (await startMongod(own.mongod, use, notes)),
    redisUrl: redisUrl ?? (await startRedis(own.redis, use, notes)),
  }));

  const restart = async (server: ManagedServer, signal: AbortSignal): Promise<void> =>
    occupancy.restart(server, signal);
  const supervisor = role === 'server' ? new Supervisor(uses, restart, progress) : undefined;
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    await supervisor?.stop();
    await occupancy.end();
  };
  return { ...served, notes, release: async () => (released ??= release()) };
}
