import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mongo } from 'mongoose';
import type { Servers, ServersConfig } from '../../src/servers';
import type { Binary } from '../../src/servers/binaries';
import { until, kill, ownProcess } from '../support/processes';
import { acquireServers } from '../../src/servers';
import { findBinary } from '../../src/servers/binaries';

export { until, isAlive, kill } from '../support/processes';

const cleanups: (() => Promise<void>)[] = [];

/** Runs when the test is over, in reverse order. */
export function afterwards(work: () => Promise<void>): void {
  cleanups.push(work);
}

afterEach(async () => {
  for (const work of cleanups.splice(0).reverse()) await work();
});

/** A folder of the test, which any user may enter; removed afterwards. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'servers-test-'));
  await chmod(folder, 0o755);
  afterwards(async () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A data directory of the test; processes that are left in it are killed afterwards. */
export async function dataDirectory(): Promise<string> {
  const dataDir = path.join(await temporaryFolder(), 'data');
  afterwards(async () => killServers(dataDir));
  return dataDir;
}

/** Kills the processes in a data directory. */
export async function killServers(dataDir: string): Promise<void> {
  for (const server of ['mongod', 'redis'] as const) {
    const left = ownProcess(dataDir, server);
    if (left !== undefined) await kill(left);
  }
}

/** Acquires servers in this process, and releases them afterwards. */
export async function acquire(
  dataDir: string,
  role: 'server' | 'tool' = 'server',
  reported: string[] = [],
  meanwhile?: () => void,
): Promise<Servers> {
  const progress = (line: string): void => void reported.push(line);
  const servers = await acquireServers({ dataDir }, { role, progress, meanwhile });
  afterwards(servers.release);
  return servers;
}

/** The process of a running server of a data directory. */
export function processOf(dataDir: string, server: 'mongod' | 'redis'): number {
  const found = ownProcess(dataDir, server);
  if (found === undefined) throw new Error(`No ${server} runs in ${dataDir}.`);
  return found;
}

/** Kills the servers of a data directory, and resolves once its program says that they serve again. */
export async function killBoth(dataDir: string, reported: string[]): Promise<void> {
  reported.length = 0;
  await kill(processOf(dataDir, 'mongod'));
  await kill(processOf(dataDir, 'redis'));
  // A mongod that responds may still refuse reads and writes until it is the primary again.
  await until(() =>
    ['MongoDB', 'Redis'].every((title) => reported.includes(`${title} is running again.`)),
  );
}

/** A MongoDB client, closed afterwards. */
export function connect(uri: string): mongo.MongoClient {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 10_000 });
  afterwards(async () => client.close());
  return client;
}

/** The plants that a test keeps in a MongoDB. */
export function plantsOf(uri: string): mongo.Collection<{ _id: string }> {
  return connect(uri).db().collection<{ _id: string }>('plants');
}

/** The mongod of this run, as the program would find it; without a home its data directory has it. */
export async function aMongod(): Promise<Binary> {
  const { TEST_DATABASES: databases = '' } = process.env;
  const search = { root: path.dirname(databases), progress: () => undefined };
  return findBinary('mongod', search);
}

/** An executable file in place of a real program. */
export async function standIn(folder: string, name: string, script: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

/** A running process, killed afterwards. */
export function aProcess(command: string, args: string[], cwd?: string): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore', cwd });
  afterwards(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** A MongoDB of the test on a port of 127.0.0.1. */
export async function startMongod(port: number, ...options: string[]): Promise<void> {
  aProcess((await aMongod()).path, [
    '--dbpath',
    await temporaryFolder(),
    '--port',
    String(port),
    '--bind_ip',
    '127.0.0.1',
    '--nounixsocket',
    ...options,
  ]);
}

/** Whether a command that prepares something can be run on this machine. */
export function isAllowed(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Another program that acquires servers, in a process of its own. */
export interface Program {
  servers: Omit<Servers, 'release'>;
  /** What it has reported so far. */
  reported: string[];
  /** Makes it release its servers; resolves when it has ended. */
  leave: () => Promise<void>;
  /** Makes it exit without releasing anything. */
  exit: () => Promise<void>;
  /** Kills it, so that it releases nothing. */
  crash: () => Promise<void>;
}

export interface ProgramOptions {
  role?: 'server' | 'tool';
  /** A command that runs the program, such as one that puts it into a namespace. */
  through?: string[];
  env?: NodeJS.ProcessEnv;
}

/** Starts a program that holds servers until it is told to leave. */
export function launch(dataDir: string, options: ProgramOptions = {}): ChildProcess {
  const { role = 'server', through = [], env } = options;
  const config: ServersConfig = { dataDir };
  const [command, ...args] = [
    ...through,
    process.execPath,
    '--require',
    path.join(__dirname, 'register.cjs'),
    path.join(__dirname, 'program.ts'),
    JSON.stringify({ config, role }),
  ];
  const child = spawn(command, args, {
    cwd: path.resolve(__dirname, '../..'),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, ...env },
  });
  afterwards(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
    await killServers(dataDir);
  });
  return child;
}

/** Starts a program like `launch`; resolves once it has servers. */
export async function program(dataDir: string, options: ProgramOptions = {}): Promise<Program> {
  const child = launch(dataDir, options);
  const reported: string[] = [];
  child.stderr?.on('data', (text: Buffer) => reported.push(text.toString()));
  const ended = once(child, 'close');
  const answer = await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error(reported.join(''));
    }),
  ]);
  const order = (text: string) => async () => {
    child.send(text);
    await ended;
  };
  return {
    // The first message of program.ts.
    servers: answer[0] as Program['servers'],
    reported,
    leave: order('leave'),
    exit: order('exit'),
    crash: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
