import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import { Semaphore } from '../core/semaphore';
import { commitUntil, Unconfirmed, WriteTimeout } from './commit';
import { type Database, MAX_ACCOUNT_TRANSACTIONS, TRANSACTION_OPTIONS } from './database';
import { isConnectionError, mayRetry } from './mongodb-errors';
import { openTransaction, type TransactionDependencies } from './open-transaction';
import { OrphanedTransactions } from './orphans';
import type { Transaction } from './transaction';

/** How long a write may take before it is asked whether MongoDB is there at all. */
const SUSPECT_MS = 3000;
/** How often a write that keeps being retried looks for transactions that nobody will end. */
const LOOK_EVERY_MS = 1000;
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64];

/** A write to an account. */
export interface Write {
  work: (tx: Transaction) => Promise<unknown>;
  /** What it counts one more against. */
  quota: string | undefined;
  /** Until when it may be retried, however long it waited for others. */
  deadline: number;
}

/** Writes to an account, in their order. */
export interface AccountWrites {
  userId: string;
  writes: readonly Write[];
}

/** Commits writes in transactions. Of very many some wait for others, so that each is done in turn. */
export class WriteTransactions {
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

  /** How many transactions wait for others. */
  get waiting(): number {
    return this.#places.waiting;
  }

  /**
   * Commits writes in one transaction, and answers the values of each account's.
   *
   * Those of one account are tried again where they meet a conflict; those of several are tried once,
   * since they can be done apart. It goes on as long as MongoDB answers: the driver takes 11 s to
   * notice one that hangs. What is given up is not tried again, nor committed unless the commit was
   * sent before.
   *
   * @throws Unconfirmed as soon as it is known that MongoDB does not answer
   */
  async commit(batches: readonly AccountWrites[]): Promise<unknown[][]> {
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
      return await Promise.race([this.#commit(batches, givingUp.signal), away]);
    } finally {
      clearInterval(watch);
    }
  }

  async #commit(
    batches: readonly AccountWrites[],
    givenUp: AbortSignal,
  ): Promise<unknown[][]> {
    const all = batches.flatMap(({ writes }) => writes);
    const deadline = Math.min(...all.map((write) => write.deadline));
    const isOver = (): boolean => givenUp.aborted || Date.now() >= deadline;
    const over = (): AbortSignal =>
      AbortSignal.any([givenUp, AbortSignal.timeout(Math.max(0, deadline - Date.now()))]);
    let nextLook = Date.now() + LOOK_EVERY_MS;
    for (let attempt = 1; ; attempt += 1) {
      if (isOver() || !(await this.#places.enter(over))) throw new WriteTimeout(undefined);
      try {
        const values = await this.#attempt(batches, givenUp, isOver).finally(() => {
          this.#places.leave();
        });
        this.#batchSize.observe(all.length);
        return values;
      } catch (error) {
        if (!mayRetry(error) || batches.length > 1) throw error;
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
    batches: readonly AccountWrites[],
    givenUp: AbortSignal,
    isOver: () => boolean,
  ): Promise<unknown[][]> {
    const session = await this.#database.connection.startSession();
    try {
      session.startTransaction(TRANSACTION_OPTIONS);
      const open = await openTransaction(
        this.#dependencies,
        session,
        batches.map(({ userId, writes }) => ({
          userId,
          quotas: writes.flatMap(({ quota }) => quota ?? []),
        })),
      );
      const values: unknown[][] = [];
      for (const [index, { tx, take }] of open.accounts.entries()) {
        const done: unknown[] = [];
        for (const { quota, work } of batches[index]?.writes ?? []) {
          if (quota !== undefined) take(quota);
          done.push(await work(tx));
        }
        values.push(done);
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
