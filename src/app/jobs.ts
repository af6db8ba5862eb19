import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { PartialFailure } from '../core/each';
import type { Metrics } from '../core/metrics';
import { reasonOf } from '../core/values';
import { isConnectionError } from '../data/mongodb/errors';
import type { Job } from '../plugins/plugin';
import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { DAY_MS, HOUR_MS } from '../core/time';
import type { AuditLog } from '../data/audit/audit-log';
import type { Database } from '../data/mongodb/database';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import { pruneDeletions } from '../data/changes/deletions';
import type { WriteQueue } from '../data/writing/write-queue';
import { scheduledBackups } from './backup/schedule';

interface RunnerDependencies {
  log: Logger;
  metrics: Metrics;
  accounts: {
    /** Returns the pseudonym of an account in the log (see `AccountHash`). */
    hashAccount(accountId: string): string;
  };
}

/** Runs each job at once and then at its interval; runs of the same job never overlap. */
export class JobRunner {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly jobs: readonly Job[];
  readonly #log: Logger;
  readonly #accounts: RunnerDependencies['accounts'];
  readonly #lastSuccess;
  readonly #failures;

  constructor(jobs: readonly Job[], { log, metrics, accounts }: RunnerDependencies) {
    this.jobs = jobs;
    // Each job waits for it.
    setMaxListeners(0, this.#stopping.signal);
    this.#log = log;
    this.#accounts = accounts;
    this.#lastSuccess = metrics.gauge(
      'job_last_success_timestamp_seconds',
      'When a job last succeeded; until then, when the server started it',
      // Prometheus itself sets a label named job.
      ['job_name'],
    );
    this.#failures = metrics.counter('job_failures_total', 'Failed runs of a job', ['job_name']);
    for (const { name } of jobs) this.#failures.inc({ job_name: name }, 0);
  }

  start(): void {
    for (const job of this.jobs) {
      // Lets an alert notice a job that never succeeds.
      this.#lastSuccess.set({ job_name: job.name }, Date.now() / 1000);
      const loop = this.#loop(job);
      this.#running.add(loop);
      void loop.finally(() => this.#running.delete(loop));
    }
  }

  /** Signals running jobs to stop, and waits for them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #loop(job: Job): Promise<void> {
    const { signal } = this.#stopping;
    const isStopping = (): boolean => signal.aborted;
    /** The accounts that the last run failed for; undefined if it succeeded. */
    let failing: readonly string[] | undefined;
    while (!isStopping()) {
      try {
        const tried = await job.run(signal);
        // An aborted run is no success.
        if (isStopping()) return;
        // Whether a failed job has recovered is only known once it is tried.
        if (!failing || tried !== false) {
          this.#lastSuccess.set({ job_name: job.name }, Date.now() / 1000);
          if (failing) this.#log.info({ job: job.name }, 'A failed job has recovered');
          failing = undefined;
        }
      } catch (error) {
        this.#failures.inc({ job_name: job.name });
        const accounts = error instanceof PartialFailure ? error.accounts : [];
        // Not each of consecutive failures, but each account: a job may run every second.
        if (!failing || accounts.some((each) => failing?.includes(each) !== true)) {
          this.#logFailure(job, error instanceof PartialFailure ? error.cause : error, accounts);
        }
        failing = accounts;
      }
      // The signal ends the pause early.
      await sleep(job.everySeconds * 1000, undefined, { signal }).catch(() => undefined);
    }
  }

  #logFailure({ name: job }: Job, error: unknown, failing: readonly string[]): void {
    const accounts = failing.map((each) => this.#accounts.hashAccount(each));
    const about = { job, ...(accounts.length > 0 && { accounts }) };
    const message = 'A job failed; it will be retried';
    // A stack trace adds nothing when MongoDB is unreachable.
    if (isConnectionError(error)) this.#log.warn({ ...about, reason: reasonOf(error) }, message);
    else this.#log.error({ ...about, err: error }, message);
  }
}

interface Dependencies {
  database: Database;
  writeQueue: WriteQueue;
  settings: Settings;
  audit: AuditLog;
  metrics: Metrics;
}

/**
 * The host's own jobs.
 *
 * @param mongodbUri returns undefined until the app is connected
 */
export function hostJobs(
  app: Dependencies,
  idempotency: IdempotencyStore,
  mongodbUri: () => string | undefined,
): Job[] {
  const { audit, database, metrics, settings } = app;
  const backups = scheduledBackups(settings, database, mongodbUri);
  if (backups) metrics.reading(backups.lastSuccess);
  return [
    ...(backups ? [backups.job] : []),
    {
      // Not on connect: commands connect too, and may lack the server's settings.
      name: 'idempotency key expiry',
      everySeconds: HOUR_MS / 1000,
      run: () => idempotency.deleteExpired(),
    },
    {
      name: 'deletion record pruning',
      everySeconds: DAY_MS / 1000,
      run: (stopping) => pruneDeletions(app, stopping),
    },
    {
      name: 'audit log pruning',
      everySeconds: HOUR_MS / 1000,
      run: (stopping) => audit.prune(settings.of(hostSettings.auditKeepDays), stopping),
    },
  ];
}
