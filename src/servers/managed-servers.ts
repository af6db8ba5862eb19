import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../core/values';
import type { Progress } from './binaries';
import { answers, type DataDirectory, type Role } from './data-directory';
import { InUseError, ServersError } from './errors';
import { ManagedServer, type ServerKind } from './managed-server';
import { mongod, shutDownMongodb } from './mongod';
import { redis } from './redis';

const RETRY_MS = 100;
const RESTART_MS = 5_000;
/** How long a program waits for another before it says so. */
const PATIENCE_MS = 2_000;
/** A MongoDB that listens answers sooner, unless it hangs; what a killed program left ends sooner. */
const HANGS_MS = 12_000;

export interface ServersOptions {
  role: Role;
  progress?: Progress | undefined;
  /** Counts how often a server, by its name, had ended and was started again. */
  countRestarts?: (server: string, by: 0 | 1) => void;
  /** Called while a start of MongoDB is waited for, which takes a second: the time for other work. */
  meanwhile?: (() => void) | undefined;
  /** Ends the wait for another program. */
  stopping?: AbortSignal | undefined;
}

/** The servers of a data directory that this program runs, or that it is attached to. */
export class ManagedServers {
  /** Whether this command is attached to the MongoDB of a server. */
  isServed = false;
  /** What was found, started or is missing, a sentence each. */
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
   * Runs MongoDB, of which a data directory has one at a time. While a server runs it, commands attach
   * to it and a second server is refused; while a command runs it, others wait for its end.
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
    for (let isSaid = false; ;) {
      const claims = await directory.claims();
      if (claims.includes('server')) {
        if (role === 'server') {
          throw new ServersError(
            `The data directory ${directory.root} is already served by another program: stop that one, or give this one a DATA_DIR of its own.`,
          );
        }
        if (await server.serves()) {
          this.isServed = true;
          this.notes.push('MongoDB runs already.');
          return server.socket;
        }
        // One that is started again does not listen yet.
        if (!(await answers(server.socket))) silentSince = performance.now();
        if (performance.now() - silentSince > HANGS_MS) {
          throw new ServersError(
            'MongoDB, which another program uses too, does not answer: stop that program, which ends what hangs.',
          );
        }
      } else if (claims.length === 0 && (await answers(server.socket))) {
        // Its program was killed. The guard ends it, which those of earlier releases have not.
        await shutDownMongodb(server.socket).catch(() => undefined);
        if (performance.now() - began > HANGS_MS) {
          throw new ServersError(`MongoDB in ${directory.root} hangs: end its process first.`);
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
      if (isLong && !isSaid && !claims.includes('server')) {
        isSaid = true;
        this.#progress('Waiting for another program that uses the data directory …');
      }
      await sleep(RETRY_MS * (1 + Math.random()), undefined, { signal: stopping });
    }
  }

  /** Of programs that claim at once those that see another's claim withdraw for a moment. */
  async #claimAlone(): Promise<boolean> {
    // That of a server once it serves: until then others are only to wait.
    this.#claims.push(await this.#directory.claim('tool'));
    const isAlone = (await this.#directory.claims()).length === 1;
    if (!isAlone) this.#giveUpClaims();
    return isAlone;
  }

  #giveUpClaims(): void {
    this.#claims.splice(0).forEach((claim) => claim.close());
  }

  /** Uses the Redis that runs, or starts one, which only a server does; returns its socket. */
  async runRedis(): Promise<string | undefined> {
    const server = this.#serverOf(redis);
    // One that hangs under the server may answer again.
    if (this.#options.role === 'tool') {
      return (await answers(server.socket)) ? server.socket : undefined;
    }
    try {
      if (await server.serves()) {
        this.notes.push('Redis runs already.');
        this.#supervised.push(this.#supervise(server));
      } else await this.#start(server);
      return server.socket;
    } catch (error) {
      const reason = reasonOf(error);
      this.notes.push(`Redis cannot be used, so limits are counted in memory (${reason}).`);
      return undefined;
    }
  }

  /** Stops what this program started. */
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

  /** Starts a server again whenever it has ended. */
  async #supervise(server: ManagedServer): Promise<void> {
    const { signal } = this.#over;
    const { countRestarts } = this.#options;
    const { title, program } = server.kind;
    countRestarts?.(program, 0);
    for (;;) {
      await server.ended(signal);
      if (signal.aborted) return;
      this.#progress(`${title} has ended unexpectedly and is started again.`);
      try {
        await server.start(signal);
        countRestarts?.(program, 1);
        this.#progress(`${title} serves again.`);
      } catch (error) {
        if (!this.#over.signal.aborted) this.#progress(`${title} is down: ${reasonOf(error)}.`);
        await sleep(RESTART_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}
