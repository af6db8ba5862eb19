import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataDirectory } from './data-directory';
import { reasonOf } from '../core/values';
import { ServersError } from './errors';
import { release, Lease, type Progress } from './lease';
import type { OwnServer } from './own-server';

const RETRY_MS = 5_000;

/**
 * `server` is the one long-running program of a data directory: a second one is refused, and what
 * dies while it runs is started again. `tool` is a command, of which many may run beside it.
 */
export type Role = 'server' | 'tool';

/** The servers of a data directory as one program uses them, perhaps beside others. */
export class OwnServers {
  readonly #serving = new Set<OwnServer>();
  /** Whether another program serves from this data directory. */
  isServed = false;
  readonly #leases: Lease[] = [];
  readonly #over = new AbortController();
  #supervised: Promise<unknown> = Promise.resolve();

  constructor(
    readonly directory: DataDirectory,
    readonly servers: readonly OwnServer[],
    readonly role: Role,
    readonly progress: Progress,
    /** Counts how often a server, by its name, had ended and was started again. */
    readonly countRestarts: (server: string, by: 0 | 1) => void,
  ) {}

  /** Has the servers serve; resolves with a sentence on each. */
  async start(): Promise<string[]> {
    process.once('exit', this.#onExit);
    const { leases, root } = this.directory;
    return leases.withLock(async () => {
      const usesMongod = this.servers.some(({ kind }) => kind.name === 'mongod');
      this.isServed = (await leases.living('mongod-server')).length > 0;
      if (this.role === 'server' && usesMongod && this.isServed) {
        throw new ServersError(
          `The data directory ${root} is already served by another program: stop that one, or give this one a DATA_DIR of its own.`,
        );
      }
      const starts = this.servers.map(async (server) => this.#start(server));
      // Both must be done with before the lock is free again.
      await Promise.allSettled(starts);
      const supervised = this.role === 'server' ? [...this.#serving] : [];
      this.#supervised = Promise.all(supervised.map(async (server) => this.#supervise(server)));
      return Promise.all(starts);
    }, this.progress);
  }

  async #start(server: OwnServer): Promise<string> {
    const { name } = server.kind;
    const isShared = await this.#isShared(server);
    this.#leases.push(await this.directory.leases.take(`${name}-${this.role}`));
    try {
      const sentence = await server.ensure(isShared);
      this.#serving.add(server);
      this.countRestarts(name, 0);
      return sentence;
    } catch (error) {
      if (name === 'mongod') throw error;
      return `Redis cannot be used, so limits are counted in memory (${reasonOf(error)}).`;
    }
  }

  /** Stops what nobody else uses. */
  async release(): Promise<void> {
    this.#over.abort();
    await this.#supervised;
    // In a data directory that was deleted or moved there is nobody else.
    const isInPlace = this.#leases.every((lease) => existsSync(lease.path));
    const leave = async (): Promise<void> => {
      this.#leave();
      const stops = this.servers.map(async (server) => {
        if (!isInPlace || !(await this.#isShared(server))) await server.stop();
      });
      await Promise.all(stops);
    };
    const { leases } = this.directory;
    await (isInPlace ? leases.withLock(leave, this.progress) : leave()).finally(() => {
      this.directory.close();
    });
  }

  /** Starts a server again whenever it has ended. */
  async #supervise(server: OwnServer): Promise<void> {
    const { signal } = this.#over;
    const { title } = server.kind;
    const isOver = once(signal, 'abort');
    for (;;) {
      await Promise.race([server.ended, isOver]);
      if (signal.aborted) return;
      this.progress(`${title} has ended unexpectedly and is started again.`);
      const restart = async (): Promise<string> => server.ensure(await this.#isShared(server));
      try {
        await this.directory.leases.withLock(restart, this.progress, signal);
        this.countRestarts(server.kind.name, 1);
        this.progress(`${title} serves again.`);
      } catch (error) {
        if (!this.#over.signal.aborted) this.progress(`${title} is down: ${reasonOf(error)}.`);
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** Whether programs but this one use a server. */
  async #isShared({ kind }: OwnServer): Promise<boolean> {
    const users = await this.directory.leases.living(`${kind.name}-`);
    return users.some((path) => this.#leases.every((own) => own.path !== path));
  }

  #leave(): void {
    process.removeListener('exit', this.#onExit);
    this.#leases.splice(0).forEach(release);
  }

  // For a program that ends without release(), by an exception or in the middle of start().
  readonly #onExit = (): void => {
    this.#leave();
    const { folder } = this.directory.leases;
    const left = existsSync(folder) ? readdirSync(folder) : [];
    for (const server of this.servers) {
      // Whether those live cannot be asked any more; the next start uses a server that was left.
      const isShared = left.some((name) => name.startsWith(`${server.kind.name}-`));
      if (!isShared) server.signal('SIGTERM');
    }
    this.directory.close();
  };
}
