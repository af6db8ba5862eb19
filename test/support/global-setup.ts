import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { acquireServers, type Servers } from '../../src/servers';

/** The servers that all tests share, from the start of Jest to its end. */
export interface SharedServers {
  servers: Servers;
  dataDir: string;
}

const shared = globalThis as typeof globalThis & { sharedServers?: SharedServers };

const ROOT = path.resolve(__dirname, '../..');

/** Starts the program's own servers once; each test file then uses a database of its own. */
export default async function globalSetup(): Promise<void> {
  execFileSync('make', ['--silent', 'dist-test/.built'], { cwd: ROOT, stdio: 'inherit' });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plant-care-tests-'));
  // As the server, because commands do without Redis rather than fetch it.
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  shared.sharedServers = { servers, dataDir };
  process.env['TEST_DATABASES'] = path.join(dataDir, 'databases');
  process.env['TEST_MONGODB_URI'] = servers.mongodbUri;
  if (servers.redisUrl === undefined) throw new Error(servers.notes.join(' '));
  process.env['TEST_REDIS_URL'] = servers.redisUrl;
}
