import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import { reasonOf } from '../core/values';
import { isConnectionError } from '../data/mongodb/errors';
import type { Job } from '../plugins/plugin';

/** Runs jobs from time to time: each at once, then after each pause, never beside itself. */
export class JobRunner {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #jobs: readonly Job[];
  readonly #log: Logger;
  readonly #lastSuccess;
  readonly #failures;

  constructor(jobs: readonly Job[], { log, metrics }: { log: Logger; metrics: Metrics }) {
    this.#jobs = jobs;
    this.#log = log;
    this.#lastSuccess = metrics.gauge(
      'job_last_success_timestamp_seconds',
      'When a job was last done, or began to be tried where it was not yet',
      // Collectors have a label of their own that is called job.
      ['job_name'],
    );
    this.#failures = metrics.counter('job_failures_total', 'Runs of a job that failed', [
      'job_name',
    ]);
    for (const { name } of jobs) this.#failures.inc({ job_name: name }, 0);
  }

  start(): void {
    for (const job of this.#jobs) {
      // One that never succeeds is to be noticed as well.
      this.#lastSuccess.set({ job_name: job.name }, Date.now() / 1000);
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
    const isStopping = (): boolean => signal.aborted;
    let isFailing = false;
    while (!isStopping()) {
      try {
        await job.run(signal);
        // What was broken off is not done.
        if (isStopping()) return;
        this.#lastSuccess.set({ job_name: job.name }, Date.now() / 1000);
        if (isFailing) this.#log.info({ job: job.name }, 'A job that failed is done again');
        isFailing = false;
      } catch (error) {
        this.#failures.inc({ job_name: job.name });
        // One line for all failures in a row: a job may run every second.
        if (!isFailing) this.#logFailure(job, error);
        isFailing = true;
      }
      // Cut short by the signal, which is then seen above.
      await sleep(job.everySeconds * 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  #logFailure({ name: job }: Job, error: unknown): void {
    const message = 'A job failed; it is tried again later';
    // Where MongoDB is away a stack says nothing more.
    if (isConnectionError(error)) this.#log.warn({ job, reason: reasonOf(error) }, message);
    else this.#log.error({ job, err: error }, message);
  }
}
