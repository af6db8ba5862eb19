import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './errors';
import type { ManagedServer } from './managed-server';
import type { Progress } from './progress';

// Elsewhere each look costs a process (ps).
const LOOK_EVERY_MS = process.platform === 'linux' ? 250 : 1_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Starts servers again that have died, until it is stopped. */
export class Supervisor {
  private readonly over = new AbortController();
  private readonly watches: Promise<void>[];

  /** `restart` brings a server back under the lock of the data directory. */
  constructor(
    servers: ManagedServer[],
    private readonly restart: (server: ManagedServer, signal: AbortSignal) => Promise<void>,
    private readonly progress: Progress,
  ) {
    this.watches = servers.map(async (server) => this.watch(server));
  }

  /** Resolves when no restart is under way any more, and none will be. */
  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.watches);
  }

  private async watch(server: ManagedServer): Promise<void> {
    const { signal } = this.over;
    let pause = FIRST_PAUSE_MS;
    let told = '';
    while (await this.rest(LOOK_EVERY_MS)) {
      if (!server.isDown) continue;
      if (told === '')
        this.progress(`${server.title} has ended unexpectedly and is started again.`);
      try {
        await this.restart(server, signal);
        this.progress(`${server.title} serves again.`);
        pause = FIRST_PAUSE_MS;
        told = '';
      } catch (error) {
        const reason = reasonOf(error);
        if (!this.isOver && reason !== told) this.progress(`${server.title} is down: ${reason}.`);
        told = reason;
        await this.rest(pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  private get isOver(): boolean {
    return this.over.signal.aborted;
  }

  /** Waits; false when it was stopped meanwhile. Does not keep the process alive. */
  private async rest(ms: number): Promise<boolean> {
    try {
      await sleep(ms, undefined, { signal: this.over.signal, ref: false });
    } catch {
      return false;
    }
    return !this.isOver;
  }
}
