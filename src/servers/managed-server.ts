import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binary } from './binaries';
import { codeOf, PortTakenError, reasonOf, ServersError } from './errors';
import type { ServerName } from './holders';
import { launch } from './launch';
import type { Layout } from './layout';
import { freePort, isFree } from './ports';
import { isAlive, signalProcess, stopProcess, type ProcessRef } from './processes';
import type { ServerKind } from './server-kind';
import { readRecord, writeRecord, type Recorded } from './server-record';
import { findStrays } from './strays';

// For a server that runs already: it was ready once, so only one that hangs takes longer.
const ORPHAN_PATIENCE_MS = 5_000;
const SHARED_PATIENCE_MS = 30_000;

export interface Serving {
  port: number;
  version: string;
  /** Completes "MongoDB 6.0.5 …". */
  how: string;
}

export interface EnsureOptions {
  /** Whether other programs use it, so that it must not be stopped under them. */
  shared: boolean;
  /** Whether it must be the port of before, because programs are connected to it. */
  keepPort?: boolean;
  signal?: AbortSignal | undefined;
}

/** One server of a data directory. What changes anything must be called with the lock held. */
export class ManagedServer {
  private running: ProcessRef | undefined;
  private readonly home: string;
  private readonly record: string;
  private readonly log: string;

  constructor(
    private readonly kind: ServerKind,
    layout: Layout,
    private readonly findBinary: (writtenBy: string | undefined) => Promise<Binary>,
  ) {
    this.home = join(layout.root, kind.folder);
    this.record = join(layout.root, `${kind.name}.json`);
    this.log = join(layout.logs, `${kind.name}.log`);
  }

  get name(): ServerName {
    return this.kind.name;
  }

  get title(): string {
    return this.kind.title;
  }

  /** Whether it served and its process is gone. */
  get isDown(): boolean {
    return this.running !== undefined && !isAlive(this.running);
  }

  /** Uses the server that runs, or starts one. */
  async ensure(options: EnsureOptions): Promise<Serving> {
    const recorded = await readRecord(this.record);
    return (await this.reuse(recorded, options)) ?? this.start(recorded, options);
  }

  /** Stops it, whoever started it; with `keepRecorded`, only one that no other program knows of. */
  async stop({ keepRecorded = false } = {}): Promise<void> {
    const recorded = await readRecord(this.record);
    const ours = this.running;
    this.running = undefined;
    const known = recorded?.process;
    if (ours !== undefined && !(keepRecorded && isSame(ours, known))) {
      await stopProcess(ours, this.kind.grace);
    }
    if (recorded === undefined || known === undefined || keepRecorded) return;
    await stopProcess(known, this.kind.grace);
    // Where it cannot be noted (a full disk, a deleted directory), the next start sees it for itself.
    await writeRecord(this.record, { ...recorded, process: undefined }).catch(() => undefined);
  }

  /** For a program that exits without time to wait: tells the server to end. */
  signalEnd(): void {
    if (this.running !== undefined) signalProcess(this.running, 'SIGTERM');
  }

  private async reuse(
    recorded: Recorded | undefined,
    { shared, signal }: EnsureOptions,
  ): Promise<Serving | undefined> {
    const running = recorded?.process;
    if (recorded === undefined || running === undefined || !isAlive(running)) return undefined;
    const { port, version } = recorded;
    const patience = AbortSignal.timeout(shared ? SHARED_PATIENCE_MS : ORPHAN_PATIENCE_MS);
    try {
      const limit = AbortSignal.any(signal === undefined ? [patience] : [patience, signal]);
      await this.kind.becomeReady(port, running.pid, limit);
      if (!shared) await this.kind.takeOver?.(port, limit);
    } catch {
      signal?.throwIfAborted();
      // It may have ended while it was asked.
      if (!isAlive(running)) return undefined;
      if (shared) {
        throw new ServersError(
          `${this.title} (process ${running.pid}), which another program uses too, does not answer on port ${port}. Its log is ${this.log}.`,
        );
      }
      await stopProcess(running, 2_000);
      return undefined;
    }
    this.running = running;
    const how = shared
      ? 'runs already'
      : 'was left running by a program that was killed, and is used again,';
    return { port, version, how: `${how} on port ${port}` };
  }

  private async start(recorded: Recorded | undefined, options: EnsureOptions): Promise<Serving> {
    const binary = await this.findBinary(recorded?.version);
    await this.prepareHome();
    for (const stray of await findStrays(this.home, binary.path)) {
      await stopProcess(stray, this.kind.grace);
    }
    const before = recorded?.port;
    // Programs that use it are connected to its port.
    const keepPort = options.keepPort ?? options.shared;
    for (let attempt = 0; ; attempt += 1) {
      const port = await this.choosePort(before, attempt, keepPort);
      try {
        await this.startOn(port, binary, recorded, options.signal);
      } catch (error) {
        const again = error instanceof PortTakenError && !keepPort && attempt < 5;
        if (again) continue;
        throw error;
      }
      const moved =
        before === undefined || before === port ? '' : ` because port ${before} was taken`;
      const how = `(${binary.origin}) was started on port ${port}${moved}`;
      return { port, version: binary.version, how };
    }
  }

  private async startOn(
    port: number,
    binary: Binary,
    recorded: Recorded | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const writtenBy = recorded?.version;
    const before = this.running;
    try {
      this.running = await launch({
        ...{ kind: this.kind, binary, port, home: this.home, log: this.log, writtenBy, signal },
        onSpawn: async (process) => {
          this.running = process;
          // The data is still the earlier version's until this one has served.
          await writeRecord(this.record, { port, version: writtenBy ?? binary.version, process });
        },
      });
    } catch (error) {
      // One that never served is not missed; one that did still is.
      this.running = before;
      throw error;
    }
    await writeRecord(this.record, { port, version: binary.version, process: this.running });
  }

  private async choosePort(
    before: number | undefined,
    attempt: number,
    keepPort: boolean,
  ): Promise<number> {
    if (before === undefined) return freePort();
    if (keepPort) return before;
    return attempt === 0 && (await isFree(before)) ? before : freePort();
  }

  private async prepareHome(): Promise<void> {
    try {
      await mkdir(this.home, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      throw new ServersError(`${this.home} cannot be made: ${reasonOf(error)}.`);
    }
  }
}

function isSame(one: ProcessRef, other: ProcessRef | undefined): boolean {
  return one.pid === other?.pid && one.started === other.started;
}
