import type { Logger } from 'pino';

import { Batcher } from '../core/batcher';
import { BoundedMap } from '../core/bounded-map';
import { WRITE_DEADLINE_SECONDS } from '../core/host-settings';
import type { Metrics } from '../core/metrics';
import { callerError, Unconfirmed, WriteTimeout } from './commit';
import type { Database } from './database';
import { isConnectionError } from './mongodb-errors';
import type { Transaction } from './transaction';
import { type AccountWrites, MAX_BATCH, TooSlow, type Write, WriteTransactions } from './write-transactions';

const DEADLINE_MS = WRITE_DEADLINE_SECONDS * 1000;
/** How many accounts share a transaction at most. */
const MAX_SHARING_ACCOUNTS = 16;
/** How many writes each of them brings at most. */
const MAX_SHARED_WRITES = MAX_BATCH / MAX_SHARING_ACCOUNTS;
/** How long writes wait for a shared transaction before theirs. */
const PATIENCE_MS = 5;
/** How long a write may have waited to be done with others: theirs should not end by its deadline. */
const MAX_WAITED_MS = 1000;
/** For how long an account of which a write failed shares no transaction, and how many those are. */
const APART_MS = 10_000;
const MAX_APART = 1000;

interface WriteOptions {
  /** Whether it is done so soon that writes to other accounts may wait for it. */
  isShort?: boolean | undefined;
}

/** Writes to an account that are done with those of others, until they are given up. */
interface SharedWrites {
  own: AccountWrites;
  givenUp: AbortSignal;
}

interface QueuedWrite extends Write {
  isShort: boolean;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/**
 * Does writes, one account's in order and different accounts' side by side or together.
 *
 * Writers to one account always conflict: they all move its revision. So within this process they
 * queue, and what has queued up shares a transaction and its one journalled commit. Short writes to
 * several accounts that come together share one too. When one of them fails, the transaction is
 * undone and each account's are done apart; then, each write alone. So a bad write never sinks its
 * neighbours. Writers in other processes are met as write conflicts and retried.
 */
export class UnitOfWork {
  readonly #queues = new Map<string, QueuedWrite[]>();
  readonly #transactions: WriteTransactions;
  readonly #shared;
  /** Until when accounts share nothing: they shall not undo the writes of others again and again. */
  readonly #apart = new BoundedMap<string, number>(MAX_APART);
  readonly #database: Database;

  constructor(
    database: Database,
    dependencies: ConstructorParameters<typeof WriteTransactions>[1],
    { log, metrics }: { log: Logger; metrics: Metrics },
  ) {
    this.#database = database;
    this.#transactions = new WriteTransactions(database, dependencies, { log, metrics });
    this.#shared = new Batcher((shared: readonly SharedWrites[]) => this.#together(shared), {
      most: MAX_SHARING_ACCOUNTS,
      patienceMs: PATIENCE_MS,
    });
    metrics.reading({
      name: 'write_queue_depth',
      help: 'Writes that wait for the transactions before theirs',
      read: () => {
        const queued = [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
        return queued + this.#transactions.waiting;
      },
    });
  }

  /**
   * Runs `work` in a transaction of the account; `work` must have no effect outside of it, and write
   * to no other account.
   */
  run<T>(
    userId: string,
    work: (tx: Transaction) => Promise<T>,
    { isShort = false }: WriteOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // The write's own work makes the value that its own caller gets.
      const write: QueuedWrite = {
        work,
        isShort,
        deadline: performance.now() + DEADLINE_MS,
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
        const values = await this.#commit(userId, batch);
        batch.forEach((write, index) => {
          write.resolve(values[index]);
        });
      } catch (error) {
        if (error instanceof Unconfirmed) {
          // What waits behind it has not begun, and would wait as long for the same.
          for (const write of [...batch, ...queue.splice(0)]) write.reject(callerError(error));
        } else if (error instanceof WriteTimeout) {
          if (isConflict(error.cause)) this.#keepApart(userId);
          rejectOverdue([...batch, ...queue.splice(0)], queue, error);
        } else {
          this.#keepApart(userId);
          if (batch.length === 1) batch[0]?.reject(error);
          else for (const write of batch) await this.#alone(userId, write);
        }
      }
    }
    this.#queues.delete(userId);
  }

  #commit(userId: string, writes: readonly QueuedWrite[]): Promise<unknown[]> {
    const own: AccountWrites = { userId, writes };
    return this.#transactions.whileThere(async (givenUp) => {
      if (this.#mayShare(userId, writes)) {
        const values = (await this.#shared.join({ own, givenUp }))?.get(own);
        if (values) return values;
      }
      const [values = []] = await this.#transactions.commit([own], givenUp);
      return values;
    });
  }

  #mayShare(userId: string, writes: readonly QueuedWrite[]): boolean {
    const now = performance.now();
    return (
      writes.length <= MAX_SHARED_WRITES &&
      writes.every(({ isShort, deadline }) => isShort && deadline - now > DEADLINE_MS - MAX_WAITED_MS) &&
      // Accounts are on different shards: a transaction of several would cost more than one each.
      !this.#database.isSharded &&
      (this.#apart.get(userId) ?? 0) <= now
    );
  }

  #keepApart(userId: string): void {
    // So that it is the newest.
    this.#apart.delete(userId);
    this.#apart.set(userId, performance.now() + APART_MS);
  }

  /** Commits writes to accounts together; undefined where they are to be done apart. */
  async #together(
    shared: readonly SharedWrites[],
  ): Promise<ReadonlyMap<AccountWrites, unknown[]> | undefined> {
    const batches = shared.map(({ own }) => own);
    const givenUp = AbortSignal.any(shared.map((each) => each.givenUp));
    try {
      const values = await this.#transactions.commit(batches, givenUp);
      return new Map(batches.map((batch, index) => [batch, values[index] ?? []]));
    } catch (error) {
      // What may be committed must not be run again; and one alone has failed by itself.
      if (error instanceof Unconfirmed || batches.length === 1) throw error;
      if (error instanceof TooSlow) for (const userId of error.userIds) this.#keepApart(userId);
      return undefined;
    }
  }

  async #alone(userId: string, write: QueuedWrite): Promise<void> {
    try {
      // It was tried with its neighbours already.
      if (performance.now() >= write.deadline) throw new WriteTimeout(undefined);
      // Its account is kept apart by now.
      const [value] = await this.#commit(userId, [write]);
      write.resolve(value);
    } catch (error) {
      write.reject(callerError(error));
    }
  }
}

/** Whether what a write was last tried for in vain is that others write to the account. */
function isConflict(cause: unknown): boolean {
  return cause !== undefined && !isConnectionError(cause);
}

/** Rejects those whose deadline has passed; the others stay in `queue`. */
function rejectOverdue(writes: readonly QueuedWrite[], queue: QueuedWrite[], reason: unknown): void {
  const now = performance.now();
  for (const write of writes) {
    if (write.deadline <= now) write.reject(reason);
    else queue.push(write);
  }
}
