import { rmSync } from 'node:fs';

import type { SharedServers } from './global-setup';

/** Stops the servers that all tests shared. */
export default async function globalTeardown(): Promise<void> {
  const { sharedServers } = globalThis as typeof globalThis & { sharedServers?: SharedServers };
  if (!sharedServers) return;
  await sharedServers.servers.release();
  rmSync(sharedServers.dataDir, { recursive: true, force: true });
}
