import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Job } from '../plugins/plugin';

/** Runs jobs from time to time: each at once, then after each pause, never beside itself. */
export class JobRunner {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #jobs: readonly Job[];
  readonly #log: Logger;

  constructor(jobs: readonly Job[], log: Logger) {
    this.#jobs = jobs;
    this.#log = log;
  }

  start(): void {
    for (const job of this.#jobs) {
      const loop = this.#loop(job);
      this.#running.add(loop);
      void loop.finally(() => this.#running.delete(loop));
    }
  }

  /** Waits for what is running to come to a stop. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #loop(job: Job): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await job.run(signal);
      } catch (error) {
        this.#log.error({ err: error, job: job.name }, 'A job failed; it is tried again later');
      }
      // Cut short by the signal, which is then seen above.
      await sleep(job.everySeconds * 1000, undefined, { signal }).catch(() => undefined);
    }
  }
}
