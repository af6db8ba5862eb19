import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';

import pino from 'pino';

import accountsPlugin from '../../plugins/accounts';
import { App } from '../../src/app/app';
import type { Tier } from '../../src/core/identity';
import { loadPlugins } from '../../src/plugins/loader';
import { managedMongodbUri } from '../../src/servers/mongod';
import { DATABASE } from '../../src/servers';
import { builtProgram } from './built';
import { NO_LIMITS } from './no-limits';
import { kill, type OwnServer, ownProcess, until } from './processes';
import { requireNoSecrets } from './secrets';

const READY = /^Plant care API ready at (\S+)$/m;

/** The built server in a process of its own. */
export class RealServer {
  stdout = '';
  stderr = '';
  /** How it ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(
    readonly dataDir: string,
    readonly process: ChildProcess,
  ) {
    this.ended = once(process, 'close').then(([code, signal]) => ({
      // The arguments of the event.
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    process.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    process.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /** Starts it without waiting. @param descriptors the limit of file descriptors, if any */
  static spawn(
    dataDir: string,
    env: NodeJS.ProcessEnv = {},
    descriptors?: number,
    options: readonly string[] = [],
  ): RealServer {
    const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
    const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors};`;
    const main = path.join(builtProgram(), 'src/main.js');
    const program = [process.execPath, main, ...options];
    const child = spawn('bash', ['-c', `${limit} exec "$0" "$@"`, ...program], {
      // Its own process group, as in a terminal.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH,
        HOME,
        XDG_CACHE_HOME,
        MONGOD_BINARY,
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        ...NO_LIMITS,
        ...env,
      },
    });
    return new RealServer(dataDir, child);
  }

  /** Starts it and waits until it serves. */
  static async start(
    dataDir: string,
    env: NodeJS.ProcessEnv = {},
    descriptors?: number,
  ): Promise<RealServer> {
    const server = RealServer.spawn(dataDir, env, descriptors);
    const isReady = () => READY.test(server.stdout) || server.process.exitCode !== null;
    await until(isReady);
    if (READY.test(server.stdout)) return server;
    await server.kill();
    throw new Error(`The server does not become ready: ${server.stderr}`);
  }

  get url(): string {
    return READY.exec(this.stdout)?.[1] ?? '';
  }

  /** Kills it without its managed servers. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Stops it with its managed servers. */
  async stop(): Promise<number | null> {
    this.process.kill('SIGTERM');
    const { code } = await this.ended;
    requireNoSecrets(this.stderr);
    return code;
  }
}

/** Creates a data directory. */
export async function dataDirectory(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'plant-care-faults-'));
}

/** The managed servers of a data directory that are running. */
export async function runningServers(dataDir: string): Promise<OwnServer[]> {
  const all: OwnServer[] = ['mongod', 'redis'];
  return all.filter((name) => ownProcess(dataDir, name) !== undefined);
}

/** Removes a data directory, and kills its servers. */
export async function removeDataDirectory(dataDir: string): Promise<void> {
  for (const name of await runningServers(dataDir)) {
    // It may have just ended.
    const pid = ownProcess(dataDir, name);
    if (pid !== undefined) await kill(pid);
  }
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** The URI of the database of a running server. */
export function databaseOf(dataDir: string): string {
  return managedMongodbUri(path.join(dataDir, 'mongodb/mongodb.sock'), DATABASE);
}

/** Works on the database of a running server, as a command does. */
export function asOperator<T>(dataDir: string, work: (app: App) => Promise<T>): Promise<T> {
  return asOperatorOf(databaseOf(dataDir), work);
}

/** The same on any database. */
export async function asOperatorOf<T>(
  mongodbUri: string,
  work: (app: App) => Promise<T>,
): Promise<T> {
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const app = new App({ plugins: loadPlugins(), env: {}, log: pino(silent) });
  try {
    await app.connect({ mongodbUri });
    return await work(app);
  } finally {
    await app.close();
  }
}

/** Creates accounts, each with a token with all scopes; returns the tokens. */
export function tokensOf(
  dataDir: string,
  users: readonly string[],
  tier: Tier = 'pro',
): Promise<string[]> {
  return asOperator(dataDir, (app) => makeTokens(app, users, tier));
}

/** The same through a connected app. */
export function makeTokens(
  app: App,
  users: readonly string[],
  tier: Tier = 'pro',
): Promise<string[]> {
  return Promise.all(
    users.map(async (userId) => {
      const scopes = [...app.scopes.keys()];
      const wanted = { userId, tier, scopes, name: 'test', expiresInSeconds: 7200 };
      return (await app.exportsOf(accountsPlugin).tokens.createToken(wanted)).token;
    }),
  );
}
