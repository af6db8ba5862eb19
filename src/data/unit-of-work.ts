import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { WRITE_DEADLINE_SECONDS } from '../core/host-settings';
import type { Metrics } from '../core/metrics';
import { Semaphore } from '../core/semaphore';
import { callerError, commitUntil, Unconfirmed, WriteTimeout } from './commit';
import { type Database, MAX_ACCOUNT_TRANSACTIONS, TRANSACTION_OPTIONS } from './database';
import { isConnectionError, mayRetry } from './mongodb-errors';
import { openTransaction, type TransactionDependencies } from './open-transaction';
import { OrphanedTransactions } from './orphans';
import type { Transaction } from './transaction';

const DEADLINE_MS = WRITE_DEADLINE_SECONDS * 1000;
/** How long a write may take before it is asked whether MongoDB is there at all. */
const SUSPECT_MS = 3000;
/** How often a write that keeps being retried looks for transactions that nobody will end. */
const LOOK_EVERY_MS = 1000;
/** How many waiting writes to one account share a transaction, so that none holds it for long. */
const MAX_BATCH = 64;
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, MAX_BATCH];

interface QueuedWrite {
  work: (tx: Transaction) => Promise<unknown>;
  /** What it counts one more against. */
  quota: string | undefined;
  /** Until when it may be retried, however long it waited for others. */
  deadline: number;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/**
 * Does writes, one account's in order and different accounts' side by side.
 *
 * Writers to one account always conflict: they all move its revision. So within this process they
 * queue, and what has queued up shares a transaction and its one journalled commit. When one of
 * them fails, the transaction is undone and each runs alone, so a bad write never sinks its
 * neighbours. Writers in other processes are met as write conflicts and retried.
 * Of very many accounts some wait for others, so that each is done in turn.
 */
export class UnitOfWork {
  readonly #queues = new Map<string, QueuedWrite[]>();
  readonly #places = new Semaphore(MAX_ACCOUNT_TRANSACTIONS);
  readonly #orphans: OrphanedTransactions;
  readonly #database: Database;
  readonly #dependencies: TransactionDependencies;
  readonly #batchSize;
  readonly #retries;

  constructor(
    database: Database,
    dependencies: TransactionDependencies,
    { log, metrics }: { log: Logger; metrics: Metrics },
  ) {
    this.#database = database;
    this.#dependencies = dependencies;
    metrics.reading({
      name: 'write_queue_depth',
      help: 'Writes that wait for the transactions before theirs',
      read: () => {
        const queued = [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
        return queued + this.#places.waiting;
      },
    });
    this.#batchSize = metrics.histogram(
      'write_batch_size',
      'Writes that shared a transaction',
      BATCH_SIZES,
    );
    this.#retries = metrics.counter(
      'write_retries_total',
      'Transactions that were tried again after a conflict or a lost connection',
    );
    this.#orphans = new OrphanedTransactions(database.connection, log);
  }

  /**
   * Runs `work` in a transaction of the account; `work` must have no effect outside of it, and write
   * to no other account.
   *
   * @param quota what it counts one more against; in `tx.account.usage` that is there already
   */
  run<T>(userId: string, work: (tx: Transaction) => Promise<T>, quota?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // The write's own work makes the value that its own caller gets.
      const write: QueuedWrite = {
        work,
        quota,
        deadline: Date.now() + DEADLINE_MS,
        resolve: resolve as (value: unknown) => void,
        reject,
      };
      const queue = this.#queues.get(userId);
      if (queue) {
        queue.push(write);
      } else {
        this.#queues.set(userId, [write]);
        void this.#drain(userId);
      }
    });
  }

  /** Runs `work` as {@link run} does, answers its value and undoes it. */
  async dryRun<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let outcome: { value: T } | undefined;
    const undo = new Error('Undone on purpose.');
    try {
      await this.run(userId, async (tx) => {
        outcome = { value: await work(tx) };
        await tx.flush();
        throw undo;
      });
    } catch (error) {
      if (error !== undo || outcome === undefined) throw error;
    }
    if (outcome === undefined) throw new Error('The dry run did not run.');
    return outcome.value;
  }

  async #drain(userId: string): Promise<void> {
    const queue = this.#queues.get(userId) ?? [];
    while (queue.length > 0) {
      const batch = queue.splice(0, MAX_BATCH);
      try {
        const values = await this.#commitWhileThere(userId, batch);
        batch.forEach((write, index) => {
          write.resolve(values[index]);
        });
      } catch (error) {
        if (error instanceof Unconfirmed) {
          // What waits behind it has not begun, and would wait as long for the same.
          for (const write of [...batch, ...queue.splice(0)]) write.reject(callerError(error));
        } else if (error instanceof WriteTimeout)
          rejectOverdue([...batch, ...queue.splice(0)], queue, error);
        else if (batch.length === 1) batch[0]?.reject(error);
        else for (const write of batch) await this.#alone(userId, write);
      }
    }
    this.#queues.delete(userId);
  }

  async #alone(userId: string, write: QueuedWrite): Promise<void> {
    try {
      // It was tried with its neighbours already.
      if (Date.now() >= write.deadline) throw new WriteTimeout(undefined);
      const [value] = await this.#commitWhileThere(userId, [write]);
      write.resolve(value);
    } catch (error) {
      write.reject(callerError(error));
    }
  }

  /**
   * Commits as long as MongoDB answers: the driver takes 11 s to notice one that hangs. What is
   * given up is not tried again, nor committed unless the commit was sent before.
   *
   * @throws Unconfirmed as soon as it is known that MongoDB does not answer
   */
  async #commitWhileThere(userId: string, writes: readonly QueuedWrite[]): Promise<unknown[]> {
    let watch: NodeJS.Timeout | undefined;
    const givingUp = new AbortController();
    const away = new Promise<never>((_, reject) => {
      watch = setInterval(() => {
        void this.#database.ping().then((isThere) => {
          if (isThere) return;
          givingUp.abort();
          reject(new Unconfirmed());
        });
      }, SUSPECT_MS);
    });
    try {
      return await Promise.race([this.#commit(userId, writes, givingUp.signal), away]);
    } finally {
      clearInterval(watch);
    }
  }

  async #commit(
    userId: string,
    writes: readonly QueuedWrite[],
    givenUp: AbortSignal,
  ): Promise<unknown[]> {
    const deadline = Math.min(...writes.map((write) => write.deadline));
    const isOver = (): boolean => givenUp.aborted || Date.now() >= deadline;
    const over = (): AbortSignal =>
      AbortSignal.any([givenUp, AbortSignal.timeout(Math.max(0, deadline - Date.now()))]);
    let nextLook = Date.now() + LOOK_EVERY_MS;
    for (let attempt = 1; ; attempt += 1) {
      if (isOver() || !(await this.#places.enter(over))) throw new WriteTimeout(undefined);
      try {
        const values = await this.#attempt(userId, writes, givenUp, isOver).finally(() => {
          this.#places.leave();
        });
        this.#batchSize.observe(writes.length);
        return values;
      } catch (error) {
        if (!mayRetry(error)) throw error;
        if (isOver()) throw new WriteTimeout(error);
        if (Date.now() >= nextLook && !isConnectionError(error)) {
          // What keeps being in the way may be of a process that is no more.
          await this.#orphans.end();
          nextLook = Date.now() + LOOK_EVERY_MS;
        }
        this.#retries.inc();
        await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
      }
    }
  }

  async #attempt(
    userId: string,
    writes: readonly QueuedWrite[],
    givenUp: AbortSignal,
    isOver: () => boolean,
  ): Promise<unknown[]> {
    const session = await this.#database.connection.startSession();
    try {
      session.startTransaction(TRANSACTION_OPTIONS);
      const values: unknown[] = [];
      const quotas = writes.flatMap(({ quota }) => quota ?? []);
      const open = await openTransaction(this.#dependencies, session, userId, quotas);
      for (const { quota, work } of writes) {
        if (quota !== undefined) open.take(quota);
        values.push(await work(open.tx));
      }
      await open.finish();
      if (givenUp.aborted) throw new Unconfirmed();
      await commitUntil(session, isOver);
      return values;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      throw error;
    } finally {
      await session.endSession();
    }
  }
}

/** Rejects those whose deadline has passed; the others stay in `queue`. */
function rejectOverdue(writes: readonly QueuedWrite[], queue: QueuedWrite[], reason: unknown): void {
  const now = Date.now();
  for (const write of writes) {
    if (write.deadline <= now) write.reject(reason);
    else queue.push(write);
  }
}
