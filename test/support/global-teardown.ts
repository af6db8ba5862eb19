import { rmSync } from 'node:fs';

import { MODULES } from './environment';
import type { SharedServers } from './global-setup';
import type * as ProgramModules from './program';

/** Stops the servers that all tests shared. */
export default async function globalTeardown(): Promise<void> {
  const { sharedServers } = globalThis as typeof globalThis & { sharedServers?: SharedServers };
  if (!sharedServers) return;
  // Without workers, the service that test files share runs in this process.
  const loaded = require.cache[require.resolve(MODULES)]?.exports as
    | typeof ProgramModules
    | undefined;
  await loaded?.stopSharedService();
  await sharedServers.servers.release();
  rmSync(sharedServers.dataDir, { recursive: true, force: true });
}
