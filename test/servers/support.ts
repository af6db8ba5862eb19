import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mongo } from 'mongoose';
import type { Servers, ServersConfig } from '../../src/servers';
import { findMongod } from '../../src/servers/find-mongod';
import { isAlive, stopProcess, type ProcessRef } from '../../src/servers/processes';
import { until } from '../../src/servers/wait';

const cleanups: (() => Promise<void>)[] = [];

/** Runs when the test is over, in reverse order. */
export function afterwards(work: () => Promise<void>): void {
  cleanups.push(work);
}

afterEach(async () => {
  for (const work of cleanups.splice(0).reverse()) await work();
});

/** A folder of the test's own, removed afterwards. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'servers-test-'));
  afterwards(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits for something that must come to pass soon. */
export async function eventually(ask: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await until(ask, { within: 15_000 }))) throw new Error('It did not come to pass in time.');
}

/** The process that the data directory records for a server. */
export async function processOf(dataDir: string, server: 'mongod' | 'redis'): Promise<ProcessRef> {
  // Written by the code under test; a test that reads nonsense here fails by itself.
  const record = JSON.parse(await readFile(join(dataDir, `${server}.json`), 'utf8')) as {
    process: ProcessRef;
  };
  return record.process;
}

/** Kills like a crash does. */
export async function kill(ref: ProcessRef): Promise<void> {
  process.kill(ref.pid, 'SIGKILL');
  await eventually(() => !isAlive(ref));
}

/** A client of a MongoDB, closed afterwards. */
export function connect(uri: string): mongo.MongoClient {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 10_000 });
  afterwards(async () => client.close());
  return client;
}

/** The mongod of this machine, as the program would find it. */
export async function aMongod(): Promise<string> {
  const folder = await temporaryFolder();
  return (await findMongod({ dataRoot: folder, progress: () => undefined })).path;
}

/** A program in a file that can be run, in place of a real one. */
export async function standIn(folder: string, name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** A process that runs, killed afterwards. */
export function aProcess(command: string, args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore' });
  afterwards(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** Another program that acquires servers, in a process of its own. */
export interface Program {
  pid: number;
  servers: Omit<Servers, 'release'>;
  /** Has it release its servers, and resolves when it has ended. */
  leave: () => Promise<void>;
  /** Has it exit without releasing anything. */
  exit: () => Promise<void>;
  /** Kills it, so that it cannot release anything. */
  crash: () => Promise<void>;
}

/** Starts a program that holds servers until it is told to leave. */
export async function program(config: ServersConfig, role: 'server' | 'tool'): Promise<Program> {
  const child = fork(join(__dirname, 'program.ts'), [JSON.stringify({ config, role })], {
    execArgv: ['--require', join(__dirname, 'register.cjs')],
    cwd: resolve(__dirname, '../..'),
    env: process.env,
  });
  const ended = once(child, 'exit');
  afterwards(async () => {
    child.kill('SIGKILL');
    await ended;
    await stopRecorded(config.dataDir);
  });
  const answer = await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error('The program ended without servers.');
    }),
  ]);
  // The first message is what program.ts sends; a pid is there once it could send one.
  const servers = answer[0] as Program['servers'];
  const { pid } = child as { pid: number };
  return {
    pid,
    servers,
    leave: async () => {
      child.send('leave');
      await ended;
    },
    exit: async () => {
      child.send('exit');
      await ended;
    },
    crash: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Stops what a killed program left running. */
async function stopRecorded(dataDir: string): Promise<void> {
  for (const server of ['mongod', 'redis'] as const) {
    const left = await processOf(dataDir, server).catch(() => undefined);
    if (left !== undefined) await stopProcess(left, 5_000);
  }
}
