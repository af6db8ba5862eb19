import { spawn } from 'node:child_process';
import path from 'node:path';

import { acquireServers } from '../../src/servers';

const ROOT = path.resolve(__dirname, '../..');
const REGISTER = path.join(ROOT, 'test/servers/register.cjs');

/** Serves the sources as they are, anew after each edit; MongoDB and Redis stay up meanwhile. */
async function develop(): Promise<void> {
  const { DATA_DIR: dataDir = './data', MONGODB_URI, REDIS_URL } = process.env;
  const servers = await acquireServers(
    { dataDir, mongodbUri: MONGODB_URI, redisUrl: REDIS_URL },
    {
      role: 'tool',
      progress: (line) => {
        console.error(line);
      },
    },
  );
  const server = spawn(
    process.execPath,
    ['--watch', '--watch-preserve-output', '--require', REGISTER, 'src/main.ts', '--welcome'],
    { cwd: ROOT, stdio: 'inherit' },
  );
  // Ctrl-C reaches the server by itself; the servers are stopped once it has ended.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => server.kill(signal));
  }
  server.once('exit', (code) => {
    void servers.release().then(() => process.exit(code ?? 0));
  });
}

void develop();
