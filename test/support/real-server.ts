import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';

import pino from 'pino';

import { App } from '../../src/app/app';
import { loadPlugins } from '../../src/plugins/loader';
import { embeddedUri } from '../../src/servers/mongod';
import { DATABASE } from '../../src/servers/mongodb-uri';
import { isAlive, type ProcessRef, stopProcess } from '../../src/servers/processes';
import { until } from '../../src/servers/wait';
import { builtProgram } from './built';
import { record } from './client';

export type OwnServer = 'mongod' | 'redis';

const READY = /^Plant care API ready at (\S+)$/m;
const PATIENCE_MS = 60_000;

/** Settings under which tests of other things than limits never meet a limit. */
const ROOMY = {
  RATE_LIMIT_PLANTS_CREATE_MAX: '1000000',
  RATE_LIMIT_WRITES_MAX: '1000000',
  RATE_LIMIT_READS_MAX: '1000000',
};

/** The built program in a process of its own, on a data directory. */
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
      // What the event of a child process carries.
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    process.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    process.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /** Starts it without waiting for anything; with so many descriptors, where they are limited. */
  static spawn(dataDir: string, env: NodeJS.ProcessEnv = {}, descriptors?: number): RealServer {
    const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
    const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors};`;
    const main = path.join(builtProgram(), 'src/main.js');
    const child = spawn('bash', ['-c', `${limit} exec "$0" "$1"`, process.execPath, main], {
      // A group of its own, as a program has that is started in a terminal.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...{ PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY },
        ...{ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
        ...ROOMY,
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
    await until(isReady, { within: PATIENCE_MS });
    if (READY.test(server.stdout)) return server;
    await server.kill();
    throw new Error(`The server does not become ready: ${server.stderr}`);
  }

  get url(): string {
    return READY.exec(this.stdout)?.[1] ?? '';
  }

  /** Kills it like a crash does; its own servers stay. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** Stops it as an operator does; its own servers stop with it. */
  async stop(): Promise<number | null> {
    this.process.kill('SIGTERM');
    return (await this.ended).code;
  }
}

/** A data directory of a test's own. */
export async function dataDirectory(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'plant-care-faults-'));
}

/** The process that a data directory records for a server, if one was recorded. */
export async function ownServer(
  dataDir: string,
  server: OwnServer,
): Promise<(ProcessRef & { port: number }) | undefined> {
  const text = await readFile(path.join(dataDir, `${server}.json`), 'utf8').catch(() => '{}');
  const { process: found, port } = record(JSON.parse(text));
  // Written by the code under test; a test that reads nonsense here fails by itself.
  return found === undefined ? undefined : { ...(found as ProcessRef), port: port as number };
}

/** Which of the own servers of a data directory run. */
export async function runningServers(dataDir: string): Promise<OwnServer[]> {
  const running: OwnServer[] = [];
  for (const name of ['mongod', 'redis'] as const) {
    const found = await ownServer(dataDir, name);
    if (found && isAlive(found)) running.push(name);
  }
  return running;
}

/** Stops whatever a data directory's servers left running, and removes it. */
export async function removeDataDirectory(dataDir: string): Promise<void> {
  for (const name of ['mongod', 'redis'] as const) {
    const found = await ownServer(dataDir, name);
    if (found) await stopProcess(found, 5000);
  }
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** Works on the database of a running server from outside of it, as the CLI does. */
export async function asOperator<T>(dataDir: string, work: (app: App) => Promise<T>): Promise<T> {
  const mongod = await ownServer(dataDir, 'mongod');
  if (!mongod) throw new Error(`No mongod is recorded in ${dataDir}.`);
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const app = new App({ plugins: loadPlugins(), env: {}, log: pino(silent) });
  try {
    await app.connect({ mongodbUri: embeddedUri(mongod.port, DATABASE) });
    return await work(app);
  } finally {
    await app.close();
  }
}
