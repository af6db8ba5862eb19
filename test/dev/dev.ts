import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { acquireServers, type Servers } from '../../src/servers';

const ROOT = path.resolve(__dirname, '../..');
const REGISTER = path.join(ROOT, 'test/servers/register.cjs');
const POLL_MS = 300;

/** Serves the sources, and restarts after each edit; MongoDB and Redis keep running. */
async function develop(): Promise<void> {
  const { DATA_DIR: dataDir = './data', MONGODB_URI, REDIS_URL } = process.env;
  const servers = await acquireServers(
    { dataDir, mongodbUri: MONGODB_URI, redisUrl: REDIS_URL },
    {
      role: 'server',
      progress: (line) => {
        console.error(line);
      },
    },
  );
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping.abort();
    });
  }
  while (!stopping.signal.aborted) {
    const before = stateOfSources();
    const server = serve(servers);
    await edited(before, stopping.signal);
    await end(server);
  }
  await servers.release();
}

function serve({ mongodbUri, redisUrl }: Servers): ChildProcess {
  const args = ['--require', REGISTER, 'src/main.ts', '--welcome'];
  // A group of its own, so that Ctrl-C reaches it only once: a second signal would cut its shutdown short.
  const env = { ...process.env, MONGODB_URI: mongodbUri, REDIS_URL: redisUrl };
  return spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', detached: true, env });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

/** Waits until the sources change, or for the signal. */
async function edited(before: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && stateOfSources() === before) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Polled, since watchers lose files that an editor replaces when it saves them. */
function stateOfSources(): string {
  return ['src', 'plugins']
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true }),
    )
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => `${file} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? ''}`)
    .join('\n');
}

void develop();
