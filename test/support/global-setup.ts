import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { acquireServers, type Servers } from '../../src/servers';

/** The servers that all tests share. */
export interface SharedServers {
  servers: Servers;
  dataDir: string;
}

const shared = globalThis as typeof globalThis & { sharedServers?: SharedServers };

const ROOT = path.resolve(__dirname, '../..');

/** Starts MongoDB and Redis once; each service under test uses a database of its own. */
export default async function globalSetup(): Promise<void> {
  execFileSync('make', ['--silent', 'dist-test/.built'], { cwd: ROOT, stdio: 'inherit' });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plant-care-tests-'));
  // As a server, because commands do not start Redis.
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  shared.sharedServers = { servers, dataDir };
  process.env['TEST_DATABASES'] = path.join(dataDir, 'databases');
  process.env['TEST_MONGODB_URI'] = servers.mongodbUri;
  if (servers.redisUrl === undefined) throw new Error(servers.notes.join(' '));
  process.env['TEST_REDIS_URL'] = servers.redisUrl;
}
