import { reasonOf } from './errors';
import { findMongod } from './find-mongod';
import { findRedis } from './find-redis';
import type { Role } from './holders';
import type { Layout } from './layout';
import { ManagedServer, type Serving } from './managed-server';
import { embeddedUri, mongod } from './mongod';
import { DATABASE } from './mongodb-uri';
import type { Use } from './occupancy';
import { LOOPBACK } from './ports';
import type { Progress } from './progress';
import { redis } from './redis';

export interface OwnServersOptions {
  layout: Layout;
  role: Role;
  progress: Progress;
  /** MONGOD_BINARY. */
  mongodBinary?: string | undefined;
}

/** The servers of a data directory, not started yet; their binaries are looked for when they are needed. */
export function ownServers({ layout, role, progress, mongodBinary }: OwnServersOptions): {
  mongod: ManagedServer;
  redis: ManagedServer;
} {
  const dataRoot = layout.root;
  const chosen = mongodBinary === '' ? undefined : mongodBinary;
  // A command does without Redis sooner than it waits for a download.
  const fetch = role === 'server';
  return {
    mongod: new ManagedServer(mongod, layout, async (wanted) =>
      findMongod({ dataRoot, chosen, wanted, progress }),
    ),
    redis: new ManagedServer(redis, layout, async () => findRedis({ dataRoot, fetch, progress })),
  };
}

/** Has MongoDB serve, and returns its URI. */
export async function startMongod(
  server: ManagedServer,
  use: Use,
  notes: string[],
): Promise<string> {
  const serving = await use(server);
  notes.push(sentence(server, serving));
  return embeddedUri(serving.port, DATABASE);
}

/** Has Redis serve, and returns its URL; where there is none to be had, says why and goes on. */
export async function startRedis(
  server: ManagedServer,
  use: Use,
  notes: string[],
): Promise<string | undefined> {
  try {
    const serving = await use(server);
    notes.push(sentence(server, serving));
    return `redis://${LOOPBACK}:${serving.port}`;
  } catch (error) {
    notes.push(`There is no Redis, so limits are counted in memory (${reasonOf(error)}).`);
    return undefined;
  }
}

function sentence(server: ManagedServer, { version, how }: Serving): string {
  return `${server.title} ${version} ${how}.`;
}
