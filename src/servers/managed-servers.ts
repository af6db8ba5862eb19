import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../core/values';
import type { Progress } from './binaries';
import { isListening, type DataDirectory, type Role } from './data-directory';
import { InUseError, ServersError } from './errors';
import { ManagedServer, type ServerKind } from './managed-server';
import { mongod } from './mongod';
import { redis } from './redis';

const RETRY_MS = 100;
const RESTART_MS = 5_000;
/** How long to wait for another process before reporting it. */
const PATIENCE_MS = 2_000;
/** After so long, a MongoDB that listens but does not respond hangs; orphans end sooner, too. */
const HANGS_MS = 12_000;

export interface ServersOptions {
  role: Role;
  /** Whether a managed MongoDB must have data already. */
  needsData?: boolean;
  progress?: Progress | undefined;
  /** Counts the restarts of a server that exited. */
  countRestarts?: (server: string, by: 0 | 1) => void;
  meanwhile?: (() => void) | undefined;
  /** Aborts the wait for another process. */
  stopping?: AbortSignal | undefined;
}

/** The managed servers of a data directory that this process runs or is attached to. */
export class ManagedServers {
  /** Whether this command is attached to the MongoDB of a server process. */
  isServed = false;
  readonly notes: string[] = [];
  readonly #directory: DataDirectory;
  readonly #options: ServersOptions;
  readonly #progress: Progress;
  readonly #over = new AbortController();
  readonly #servers: ManagedServer[] = [];
  readonly #supervised: Promise<void>[] = [];
  readonly #claims: Server[] = [];

  constructor(directory: DataDirectory, options: ServersOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#progress = options.progress ?? (() => undefined);
  }

  /**
   * Runs MongoDB or attaches to it. While a server process runs it, commands attach to it and a second
   * server process is refused. While a command runs it, others wait.
   *
   * @returns its socket
   * @throws ServersError
   */
  async runMongodb(chosen: string | undefined): Promise<string> {
    const { role, meanwhile, stopping } = this.#options;
    const directory = this.#directory;
    const server = this.#serverOf(mongod, { chosen, meanwhile });
    const began = performance.now();
    let silentSince = began;
    for (let isReported = false; ;) {
      const claims = await directory.claims();
      if (claims.includes('server')) {
        if (role === 'server') {
          throw new ServersError(
            `Another server is running on the data directory ${directory.root}: stop it, or set DATA_DIR to another folder.`,
          );
        }
        if (await server.serves()) {
          this.isServed = true;
          this.notes.push('MongoDB was already running.');
          return server.socket;
        }
        // A MongoDB that is being restarted does not listen yet.
        if (!(await isListening(server.socket))) silentSince = performance.now();
        if (performance.now() - silentSince > HANGS_MS) {
          throw new ServersError(
            'MongoDB, which a server has started, does not respond: stop that server, which also stops MongoDB.',
          );
        }
      } else if (claims.length === 0 && (await isListening(server.socket))) {
        // An orphan of a killed process, which its guard stops.
        if (performance.now() - began > HANGS_MS) {
          throw new ServersError(`MongoDB in ${directory.root} hangs: kill its process first.`);
        }
      } else if (claims.length === 0 && (await this.#claimAlone())) {
        try {
          await this.#start(server);
          if (role === 'server') this.#claims.push(await directory.claim(role));
          return server.socket;
        } catch (error) {
          this.#giveUpClaims();
          if (!(error instanceof InUseError) || performance.now() - began > HANGS_MS) throw error;
        }
      }
      const isLong = performance.now() - began > PATIENCE_MS;
      if (isLong && !isReported && !claims.includes('server')) {
        isReported = true;
        this.#progress('Waiting for another process that uses the data directory …');
      }
      await sleep(RETRY_MS * (1 + Math.random()), undefined, { signal: stopping });
    }
  }

  /** Claims MongoDB; withdraws and returns false if another process claims it at the same time. */
  async #claimAlone(): Promise<boolean> {
    // A server claims its role only once it serves; until then, others just wait.
    this.#claims.push(await this.#directory.claim('tool'));
    const isAlone = (await this.#directory.claims()).length === 1;
    if (!isAlone) this.#giveUpClaims();
    return isAlone;
  }

  #giveUpClaims(): void {
    this.#claims.splice(0).forEach((claim) => claim.close());
  }

  /** Uses a running Redis; only a server process starts one. Returns its socket. */
  async runRedis(): Promise<string | undefined> {
    const server = this.#serverOf(redis);
    // A Redis that hangs may recover.
    if (this.#options.role === 'tool') {
      return (await isListening(server.socket)) ? server.socket : undefined;
    }
    try {
      if (await server.serves()) {
        this.notes.push('Redis was already running.');
        this.#supervised.push(this.#supervise(server));
      } else await this.#start(server);
      return server.socket;
    } catch (error) {
      const reason = reasonOf(error);
      this.notes.push(`Redis is not available, so rate limits are counted in memory (${reason}).`);
      return undefined;
    }
  }

  /** Stops the servers that this process started. */
  async release(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#servers.map((server) => server.stop()));
    await Promise.all(this.#supervised);
    this.#giveUpClaims();
    this.#directory.close();
  }

  #serverOf(
    kind: ServerKind,
    options: { chosen?: string | undefined; meanwhile?: (() => void) | undefined } = {},
  ): ManagedServer {
    const { root, owner } = this.#directory;
    const search = { root, owner, progress: this.#progress, chosen: options.chosen };
    const server = new ManagedServer(kind, this.#directory, search, options.meanwhile);
    this.#servers.push(server);
    return server;
  }

  async #start(server: ManagedServer): Promise<void> {
    this.notes.push(await server.start(this.#over.signal));
    if (this.#options.role === 'server') this.#supervised.push(this.#supervise(server));
  }

  /** Restarts a server whenever it ends. */
  async #supervise(server: ManagedServer): Promise<void> {
    const { signal } = this.#over;
    const { countRestarts } = this.#options;
    const { title, program } = server.kind;
    countRestarts?.(program, 0);
    for (;;) {
      await server.ended(signal);
      if (signal.aborted) return;
      this.#progress(`${title} exited unexpectedly and is being restarted.`);
      try {
        await server.start(signal);
        countRestarts?.(program, 1);
        this.#progress(`${title} is running again.`);
      } catch (error) {
        if (!this.#over.signal.aborted) this.#progress(`${title} is down: ${reasonOf(error)}.`);
        await sleep(RESTART_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}
