import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freeBytes } from '../core/disk';
import { reasonOf } from '../core/values';
import { withTimeout } from '../core/async';
import { findBinary, type BinarySearch, type ProgramName } from './binaries';
import { isListening, type DataDirectory } from './data-directory';
import { InUseError, ServersError } from './errors';

// Recovery after a crash may take long with much data.
const READY_MS = 5 * 60_000;
/** Longer than the guard takes to kill a server. */
const STOP_MS = 10_000;
const LOOK_MS = 1_000;
/** What a start needs: MongoDB's journal grows by 32 MiB at a time. */
const LEAST_BYTES = 2 ** 26;

/**
 * Runs the server, and a guard in the background that terminates it as soon as this process closes the
 * pipe to its standard input, or dies. So no server outlives its program. A hung server is killed after
 * 5 s, which loses no data: the journal has every acknowledged write.
 */
const GUARDED = `
exec 3<&0 </dev/null
{ PATH=$PATH:/usr/bin:/bin
  read -r line <&3
  kill $$ || exit
  for second in 1 2 3 4 5; do sleep 1; kill -0 $$ || exit; done
  kill -9 $$
} >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** What differs between mongod and redis-server. */
export interface ServerKind {
  program: ProgramName;
  title: string;
  /** Its working folder in the data directory, and the name of its socket there. */
  folder: string;
  arguments: readonly string[];
  /** Matches log lines to drop, because they contain user data. */
  unlogged?: string;
  /** Initializes the server if necessary; returns within a few seconds whether it serves. */
  serves: (socket: string) => Promise<boolean>;
  /** Completes the sentence "MongoDB 6.0.5 …" from the log of a failed start. */
  explainEnd: (log: string, home: string, writtenBy?: string) => string | undefined;
}

export class ManagedServer {
  readonly socket: string;
  readonly #home: string;
  readonly #log: string;
  #child: ChildProcess | undefined;
  /** Resolves to the exit code or signal of the child. */
  #ended: Promise<string> | undefined;
  /** Whether the last start found the data in use; such a log is not kept. */
  #wasInUse = false;

  constructor(
    readonly kind: ServerKind,
    readonly directory: DataDirectory,
    readonly search: BinarySearch,
    /** Called while the server starts, which takes a second, to do other work. */
    readonly meanwhile: () => void = () => undefined,
  ) {
    this.socket = path.join(directory.short, kind.folder, `${kind.folder}.sock`);
    this.#home = path.join(directory.root, kind.folder);
    this.#log = path.join(directory.root, 'logs', `${kind.program}.log`);
  }

  serves(): Promise<boolean> {
    return this.kind.serves(this.socket);
  }

  /**
   * Starts the server; returns a sentence about it.
   *
   * @throws InUseError if another process has its data open, ServersError
   */
  async start(signal: AbortSignal): Promise<string> {
    const { kind, directory } = this;
    const binary = await findBinary(kind.program, this.search);
    const name = `${kind.title} ${binary.version}`;
    // Each start has a new log, so that none grows forever; the previous one is kept.
    if (!this.#wasInUse) await rename(this.#log, `${this.#log}.1`).catch(() => undefined);
    await directory.giveToOwner();
    const log = await open(this.#log, 'w', 0o600);
    const lines = filterInto(log.fd, kind.unlogged, directory);
    const output = lines?.filter.stdin ?? log.fd;
    let end: string | undefined;
    try {
      signal.throwIfAborted();
      const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', binary.path, ...kind.arguments], {
        // Its own process group: Ctrl-C reaches only this process, which decides the order of shutdown.
        detached: true,
        stdio: ['pipe', output, output],
        cwd: this.#home,
        ...directory.owner,
      });
      this.#child = child;
      this.#ended = once(child, 'exit').then(
        ([code, by]: (string | number | null)[]) => String(by ?? `exit code ${code ?? ''}`),
        reasonOf,
      );
      void this.#ended.then((how) => {
        end = how;
        child.stdin?.destroy();
      });
    } finally {
      lines?.filter.stdin?.destroy();
      await log.close();
    }
    this.meanwhile();
    const deadline = performance.now() + READY_MS;
    while (end === undefined && performance.now() < deadline) {
      if ((await isListening(this.socket)) && (await this.#isOwn()) && (await this.serves())) {
        // Only stop() waits for the child.
        [this.#child, lines?.filter].forEach((each) => each?.unref());
        await directory.setVersion(kind.program, binary.version);
        return `${name} (${binary.origin}) was started.`;
      }
      await sleep(10);
    }
    await this.stop();
    await lines?.ended;
    throw await this.#failure(name, end);
  }

  /** Resolves when the server has ended, whichever process started it. */
  async ended(signal: AbortSignal): Promise<void> {
    if (this.#ended) await this.#ended;
    else {
      while (!signal.aborted && (await isListening(this.socket))) {
        await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** Stops the server if this process started it; the guard kills it if it hangs. */
  async stop(): Promise<void> {
    this.#child?.ref();
    this.#child?.stdin?.destroy();
    await withTimeout(STOP_MS, this.#ended);
  }

  /** Returns whether the child has the data open, rather than another process that responds. */
  async #isOwn(): Promise<boolean> {
    const lock = path.join(this.#home, `${this.kind.program}.lock`);
    return Number.parseInt(await readFile(lock, 'utf8').catch(() => '')) === this.#child?.pid;
  }

  async #failure(name: string, end = 'it does not respond'): Promise<ServersError> {
    const log = await readFile(this.#log, 'utf8');
    const version = await this.directory.versionOf(this.kind.program);
    this.#wasInUse = log.includes('DBPathInUse');
    // The log may be truncated then.
    const isFull = !this.#wasInUse && (await freeBytes(this.#home)) < LEAST_BYTES;
    const why =
      (!isFull && this.kind.explainEnd(log, this.#home, version && `version ${version}`)) ||
      `could not start in ${this.#home}: ${isFull ? 'its disk is full' : end}`;
    const Kind = this.#wasInUse ? InUseError : ServersError;
    return new Kind(`${name} ${why}. Its log is ${this.#log}.`);
  }
}

/** Spawns a grep that writes its input to a file, except lines that match a pattern. */
function filterInto(fd: number, pattern: string | undefined, { owner }: DataDirectory) {
  if (pattern === undefined) return undefined;
  const args = ['--line-buffered', '--invert-match', '--extended-regexp', pattern];
  const filter = spawn('grep', args, { detached: true, stdio: ['pipe', fd, 'ignore'], ...owner });
  // Without grep, there is no log.
  return { filter, ended: once(filter, 'exit').catch(() => undefined) };
}
