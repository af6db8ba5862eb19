import { spawn } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import type { Binary } from './binaries';
import { PortTakenError, reasonOf, ServersError } from './errors';
import { identify, isAlive, stopProcess, type ProcessRef } from './processes';
import type { ServerKind } from './server-kind';

// Recovery after a crash may take long where there is much data.
const READY_MS = 5 * 60_000;
const LOG_LIMIT = 20 * 1024 * 1024;

export interface Launch {
  kind: ServerKind;
  binary: Binary;
  port: number;
  home: string;
  log: string;
  /** The version that last served the same data. */
  writtenBy?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called as soon as there is a process, so that it can be noted before anything can go wrong. */
  onSpawn: (process: ProcessRef) => Promise<void>;
}

/** Starts a server in a process group of its own and resolves once it serves. */
export async function launch(job: Launch): Promise<ProcessRef> {
  const { kind, binary, port, home, log } = job;
  const offset = await makeRoom(log);
  const file = await open(log, 'a');
  // Detached, so that a Ctrl-C in the terminal reaches this program only, which decides the order.
  const child = spawn(binary.path, kind.arguments(port, home), {
    detached: true,
    stdio: ['ignore', file.fd, file.fd],
    cwd: home,
    env: process.env,
  });
  child.unref();
  const ended = new AbortController();
  const end = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(reasonOf(error));
    });
    child.once('exit', (code, signal) => {
      resolve(signal === null ? `exit code ${code ?? '?'}` : signal);
    });
  }).finally(() => {
    ended.abort();
  });
  await file.close();

  const started = child.pid === undefined ? undefined : identify(child.pid);
  const signals = [ended.signal, AbortSignal.timeout(READY_MS)];
  if (job.signal !== undefined) signals.push(job.signal);
  try {
    if (started === undefined) throw new Error('it ended at once');
    await job.onSpawn(started);
    await kind.becomeReady(port, started.pid, AbortSignal.any(signals));
    return started;
  } catch (error) {
    if (started !== undefined && isAlive(started)) {
      await stopProcess(started, kind.grace);
      job.signal?.throwIfAborted();
      if (error instanceof PortTakenError) throw error;
      throw new ServersError(
        `${kind.title} does not become ready: ${reasonOf(error)}. Its log is ${log}.`,
      );
    }
    throw whyEnded(job, await end, await logSince(log, offset));
  }
}

function whyEnded(job: Launch, end: string, printed: string): ServersError {
  const { kind, binary, home, log, writtenBy } = job;
  if (kind.portWasTaken(printed)) {
    return new PortTakenError(job.port);
  }
  const said = kind.lastError(printed) ?? end;
  if (kind.refusedData(printed) && writtenBy !== binary.version) {
    const writer = writtenBy === undefined ? 'another version' : `version ${writtenBy}`;
    return new ServersError(
      `${kind.title} ${binary.version} refuses the data in ${home}, which ${writer} wrote: use ${writer} for it, or another data directory. Its log is ${log}.`,
    );
  }
  return new ServersError(
    `${kind.title} ${binary.version} could not start in ${home}: ${said}. Its log is ${log}.`,
  );
}

/** Sets a long log aside; returns where what the next start writes will begin. */
async function makeRoom(log: string): Promise<number> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size < LOG_LIMIT) return size;
  await rename(log, `${log}.1`);
  return 0;
}

async function logSince(log: string, offset: number): Promise<string> {
  const whole = await readFile(log).catch(() => Buffer.alloc(0));
  return whole.subarray(offset).toString();
}
