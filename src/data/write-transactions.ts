import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import { Semaphore } from '../core/semaphore';
import { commitUntil, Unconfirmed, WriteTimeout } from './commit';
import { type Database, MAX_ACCOUNT_TRANSACTIONS, TRANSACTION_OPTIONS } from './database';
import { isConnectionError, mayRetry } from './mongodb-errors';
import { openTransaction, type TransactionDependencies } from './open-transaction';
import { OrphanedTransactions } from './orphans';
import type { Fence } from './schema/fence';
import type { Transaction } from './transaction';

/** How long a write may take before it is asked whether MongoDB is there at all. */
const SUSPECT_MS = 3000;
/** How often a write that keeps being retried looks for transactions that nobody will end. */
const LOOK_EVERY_MS = 1000;
/** For how long accounts that share a transaction wait for each other, until the last has its turn. */
const SHARED_MS = 500;
/** How many writes share a transaction at most, so that none holds its accounts for long. */
export const MAX_BATCH = 64;
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, MAX_BATCH];

/** A write to an account. */
export interface Write {
  work: (tx: Transaction) => Promise<unknown>;
  /** Until when it may be retried, however long it waited for others. */
  deadline: number;
}

/** Writes to an account, in their order. */
export interface AccountWrites {
  userId: string;
  writes: readonly Write[];
}

/** Accounts that share a transaction keep each other waiting for too long. */
export class TooSlow extends Error {
  /** @param userIds whose writes are to be done apart: one that took most of the time, or all */
  constructor(readonly userIds: readonly string[]) {
    super('Writes to several accounts take too long to be done together.');
  }
}

/** Commits writes in transactions. Of very many some wait for others, so that each is done in turn. */
export class WriteTransactions {
  readonly #places = new Semaphore(MAX_ACCOUNT_TRANSACTIONS);
  readonly #orphans: OrphanedTransactions;
  readonly #database: Database;
  readonly #dependencies: TransactionDependencies & { fence: Fence };
  readonly #batchSize;
  readonly #retries;
  #waiting = 0;

  constructor(
    database: Database,
    dependencies: TransactionDependencies & { fence: Fence },
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
      'Transactions that were tried again after a conflict or a lost connection, or, shared by accounts, any failure',
    );
    this.#orphans = new OrphanedTransactions(database.connection, log);
  }

  /** How many writes wait for the transactions of others. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does `work` as long as MongoDB answers: the driver takes 11 s to notice one that hangs. What is
   * given up is not tried again, nor committed unless the commit was sent before.
   *
   * @throws Unconfirmed as soon as it is known that MongoDB does not answer
   */
  async whileThere<T>(work: (givenUp: AbortSignal) => Promise<T>): Promise<T> {
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
      return await Promise.race([work(givingUp.signal), away]);
    } finally {
      clearInterval(watch);
    }
  }

  /**
   * Commits writes in one transaction, and answers the values of each account's. Those of one account
   * are tried again where they meet a conflict; those of several are tried once, since they can be
   * done apart.
   *
   * @throws TooSlow where an account keeps others waiting
   */
  async commit(batches: readonly AccountWrites[], givenUp: AbortSignal): Promise<unknown[][]> {
    const all = batches.flatMap(({ writes }) => writes);
    const deadline = Math.min(...all.map((write) => write.deadline));
    const isOver = (): boolean => givenUp.aborted || performance.now() >= deadline;
    const over = (): AbortSignal[] => [
      givenUp,
      AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now()))),
    ];
    let nextLook = performance.now() + LOOK_EVERY_MS;
    for (let attempt = 1; ; attempt += 1) {
      this.#waiting += all.length;
      const hasPlace = !isOver() && (await this.#places.enter(over));
      this.#waiting -= all.length;
      if (!hasPlace) throw new WriteTimeout(undefined);
      try {
        const values = await this.#attempt(batches, givenUp, isOver).finally(() => {
          this.#places.leave();
        });
        this.#batchSize.observe(all.length);
        return values;
      } catch (error) {
        if (batches.length > 1 && !(error instanceof Unconfirmed)) this.#retries.inc();
        if (batches.length > 1 || !mayRetry(error)) throw error;
        if (isOver()) throw new WriteTimeout(error);
        if (performance.now() >= nextLook && !isConnectionError(error)) {
          // What keeps being in the way may be of a process that is no more.
          await this.#orphans.end();
          nextLook = performance.now() + LOOK_EVERY_MS;
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
    const { fence } = this.#dependencies;
    fence.require();
    const session = await this.#database.connection.startSession();
    try {
      session.startTransaction(TRANSACTION_OPTIONS);
      const userIds = batches.map(({ userId }) => userId);
      const open = await openTransaction(
        this.#dependencies,
        session,
        userIds,
      );
      // Beside the work itself: only the commit waits for it.
      const looked = fence.look();
      looked.catch(() => undefined);
      const values: unknown[][] = [];
      const working = new SharedTime(userIds);
      for (const [index, { tx }] of open.accounts.entries()) {
        const done: unknown[] = [];
        for (const { work } of batches[index]?.writes ?? []) done.push(await work(tx));
        values.push(done);
        working.took(tx.userId);
      }
      const finishing = new SharedTime(userIds);
      await open.finish((userId) => {
        finishing.took(userId);
      });
      await looked;
      // Nothing was committed: those who share it may still be done apart.
      if (givenUp.aborted) throw new WriteTimeout(undefined);
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

/** For how long accounts that share a transaction, and have their turns in it, keep each other waiting. */
class SharedTime {
  readonly #userIds: readonly string[];
  readonly #begun = performance.now();
  #last = this.#begun;

  constructor(userIds: readonly string[]) {
    this.#userIds = userIds;
  }

  /** An account has had its turn. @throws TooSlow where those that are still to have theirs wait too long */
  took(userId: string): void {
    const now = performance.now();
    const own = now - this.#last;
    this.#last = now;
    if (now - this.#begun < SHARED_MS || userId === this.#userIds.at(-1)) return;
    throw new TooSlow(own > SHARED_MS / 2 ? [userId] : this.#userIds);
  }
}
