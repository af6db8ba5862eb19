import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinary, type BinarySearch, type Program } from './binaries';
import type { DataDirectory } from './data-directory';
import { freeBytes } from '../core/disk';
import { filterLines } from '../core/line-filter';
import { reasonOf } from '../core/values';
import { ServersError } from './errors';
import { answers } from './lease';

// Recovery after a crash may take long where there is much data.
const READY_MS = 5 * 60_000;
// To answer, once it was ready, or to end takes a second. What is ended by force loses nothing: the
// journal keeps what was acknowledged.
const HANGS_MS = 6_000;
/** How soon a lease that takes no connection is asked again. */
const RETRY_MS = 100;

/** What is particular to mongod or to redis-server. */
export interface ServerKind {
  /** Of the program, and of its log and its file with the process id. */
  name: Program;
  title: string;
  /** Its folder in the data directory, in which it works; its socket there is called likewise. */
  folder: string;
  arguments: readonly string[];
  /** Which lines of its log hold what users wrote, and are left out. */
  unlogged?: string;
  /** Whether it serves, answered within a few seconds; does what it may need for that. */
  serves: (socket: string) => Promise<boolean>;
  /** Ends what a killed program left unfinished in it, in the way of others. */
  takeOver?: (socket: string) => Promise<unknown>;
  shutDown: (socket: string) => Promise<unknown>;
  /** Completes "MongoDB 6.0.5 …" from the log of a start that failed. */
  explainEnd: (log: string, home: string, writtenBy?: string) => string | undefined;
}

/** One server of a data directory. What starts or stops it must be called with the lock held. */
export class OwnServer {
  readonly socket: string;
  readonly #home: string;
  readonly #log: string;
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;

  constructor(
    readonly kind: ServerKind,
    readonly directory: DataDirectory,
    readonly search: BinarySearch,
    readonly meanwhile: () => void = () => undefined,
  ) {
    this.socket = path.join(directory.short, kind.folder, `${kind.folder}.sock`);
    this.#home = path.join(directory.root, kind.folder);
    this.#log = path.join(directory.root, 'logs', `${kind.name}.log`);
  }

  /** Resolves when its process has ended, in whichever process namespace. */
  get ended(): Promise<void> {
    return (this.#ended ??= this.directory.leases.living(`process-${this.kind.name}`).then(
      async ([lease = this.socket]) => endOf(lease),
      () => undefined,
    ));
  }

  /**
   * Uses the one that runs, or starts one; resolves with a sentence on it.
   *
   * @param isShared whether other programs use it, so that it must not be stopped under them
   */
  async ensure(isShared: boolean): Promise<string> {
    const { kind, directory, socket } = this;
    this.#child = undefined;
    this.#ended = undefined;
    let isOver = false;
    void this.ended.then(() => (isOver = true));
    // One that a killed program was starting may not even listen yet.
    if (await this.#becomesReady(HANGS_MS, () => isOver)) {
      if (!isShared) await kind.takeOver?.(socket);
      const name = [kind.title, (await directory.versionOf(kind.name)) ?? []].flat().join(' ');
      return `${name} ${isShared ? 'runs already' : 'was left by a killed program and is used again'}.`;
    }
    if (await answers(socket)) {
      if (isShared) {
        throw new ServersError(
          `${kind.title}, which another program uses too, does not answer: stop that program, which ends what hangs.`,
        );
      }
      this.signal('SIGKILL');
    }
    // One that does not even listen is in nobody's use.
    await this.stop();
    return this.#start();
  }

  /** Ends it, whoever started it, and by force where it hangs. */
  async stop(): Promise<void> {
    const { shutDown, title } = this.kind;
    const isAsked = !this.signal('SIGTERM') && (await answers(this.socket));
    const asked = isAsked && shutDown(this.socket).catch(() => undefined);
    const isEnded = await this.#endsInTime();
    // What still tries to reach it would shut the next one down.
    await asked;
    if (isEnded) return;
    if (this.signal('SIGKILL') && (await this.#endsInTime())) return;
    throw new ServersError(`${title} in ${this.#home} hangs and cannot be ended from here.`);
  }

  /** Signals its process; false where that is gone, or in another process namespace. */
  signal(signal: NodeJS.Signals): boolean {
    if (this.#child !== undefined) return this.#child.kill(signal);
    try {
      const lock = path.join(this.#home, `${this.kind.name}.lock`);
      const pid = Number.parseInt(readFileSync(lock, 'utf8'));
      // Elsewhere the same number is another process, which works in another folder.
      const isHere = readlinkSync(`/proc/${pid}/cwd`).startsWith(this.#home);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return isHere && command.includes('.sock') && process.kill(pid, signal);
    } catch {
      return false;
    }
  }

  async #start(): Promise<string> {
    const { kind, directory } = this;
    const binary = await findBinary(kind.name, this.search);
    const name = `${kind.title} ${binary.version}`;
    // A log for each start, so that none grows for ever; the one before is kept.
    await rename(this.#log, `${this.#log}.1`).catch(() => undefined);
    const log = await open(this.#log, 'a', 0o600);
    const lease = await directory.leases.take(`process-${kind.name}`);
    const lines = filterLines(log.fd, kind.unlogged, directory.owner);
    let end: string | undefined;
    try {
      // Children take descriptors, but Node has no public name for the one of a server.
      const { fd } = (lease.server as Server & { _handle: { fd: number } })._handle;
      await directory.giveToOwner();
      // Detached, so that a Ctrl-C in the terminal reaches this program only, which decides the order.
      const child = spawn(binary.path, kind.arguments, {
        detached: true,
        stdio: ['ignore', lines.output, lines.output, fd],
        cwd: this.#home,
        ...directory.owner,
      });
      child.unref();
      child.once('error', (error) => (end = reasonOf(error)));
      child.once('exit', (code, by) => (end = by ?? `exit code ${code ?? ''}`));
      this.#child = child;
    } finally {
      // From here on only the server's process holds it, if there is one.
      lease.server.close();
      lines.handOver();
      await log.close();
    }
    this.#ended = endOf(lease.path);
    this.meanwhile();
    if (await this.#becomesReady(READY_MS, () => end !== undefined)) {
      await directory.setVersion(kind.name, binary.version);
      return `${name} (${binary.origin}) was started.`;
    }
    await this.stop();
    await lines.ended;
    throw new ServersError(`${name} ${await this.#explain(end)}. Its log is ${this.#log}.`);
  }

  async #explain(end = 'it does not answer'): Promise<string> {
    // What it wrote to its log is cut off then.
    if ((await freeBytes(this.#home)) < 2 ** 20)
      return `could not start in ${this.#home}: its disk is full`;
    const log = await readFile(this.#log, 'utf8');
    const version = await this.directory.versionOf(this.kind.name);
    const why = this.kind.explainEnd(log, this.#home, version && `version ${version}`);
    return why ?? `could not start in ${this.#home}: ${end}`;
  }

  async #endsInTime(): Promise<boolean> {
    const over = new AbortController();
    const late = sleep(HANGS_MS, false, { signal: over.signal }).catch(() => false);
    return Promise.race([this.ended.then(() => true), late]).finally(() => {
      over.abort();
    });
  }

  async #becomesReady(within: number, isOver = () => false): Promise<boolean> {
    const deadline = performance.now() + within;
    while (!isOver() && performance.now() < deadline) {
      if ((await answers(this.socket)) && (await this.kind.serves(this.socket))) return true;
      await sleep(10);
    }
    return false;
  }
}

/** Resolves when no process holds a lease any more: the kernel then ends this connection. */
async function endOf(lease: string): Promise<void> {
  do {
    // Nobody accepts on it: once its queue is full it takes no more connections, and lives on.
    await once(connect(lease).unref(), 'close').catch(() => undefined);
  } while ((await answers(lease)) && (await sleep(RETRY_MS, true, { ref: false })));
}
