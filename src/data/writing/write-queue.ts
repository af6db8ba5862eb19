import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import { WRITE_DEADLINE_SECONDS } from '../../core/settings/host-settings';
import type { Metrics } from '../../core/metrics';
import { groupBy } from '../../core/values';
import {
  commitGroup,
  CommitUnknownError,
  type GroupCommitDependencies,
  type GroupedWrite,
  WriteTimeout,
} from './group-commit';
import { isConnectionError, mayRetry } from '../mongodb/errors';
import { OrphanedTransactions } from '../mongodb/orphans';
import type { Transaction } from './transaction';
import { WriteBuffer } from './write-buffer';

const DEADLINE_MS = WRITE_DEADLINE_SECONDS * 1000;
/** Writes in a transaction. */
const MAX_GROUP = 64;
const GROUP_SIZES = [1, 2, 4, 8, 16, 32, MAX_GROUP];
/** Transactions in progress; the other connections are left to reads. */
const MAX_TRANSACTIONS = 32;
/** Writes in the queue. */
const MAX_WAITING = 1000;
/** How long a write waits for others to share a transaction with. */
const MAX_DELAY_MS = 5;
/** How often MongoDB is pinged during a transaction. */
const PING_EVERY_MS = 3000;
/** How long a write meets conflicts before orphaned transactions are ended, and how often they are. */
const ORPHANS_EVERY_MS = 1000;

interface QueuedWrite extends GroupedWrite {
  /** Failed attempts. After the first, it shares no transaction with other accounts. */
  attempts: number;
  /** Whether it runs in a transaction of its own: a group with it failed, or it takes long. */
  isAlone: boolean;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/**
 * Commits writes in groups. Queued writes share the next transaction, with its commands and its
 * journalled commit. A group that fails is aborted, and each of its writes runs alone. Writes to one
 * account that meet a conflict or lose the connection are retried until their deadline.
 *
 * An account is in one transaction at a time, since every write increments its revision. Only writes of
 * other processes conflict.
 */
export class WriteQueue {
  #waiting: QueuedWrite[] = [];
  /** The accounts of the transactions in progress. */
  readonly #busy = new Set<string>();
  #transactions = 0;
  #nextLook = 0;
  readonly #dependencies: GroupCommitDependencies;
  readonly #orphans: OrphanedTransactions;
  readonly #groupSize;
  readonly #retries;

  constructor(
    dependencies: GroupCommitDependencies,
    { log, metrics }: { log: Logger; metrics: Metrics },
  ) {
    this.#dependencies = dependencies;
    this.#orphans = new OrphanedTransactions(dependencies.database.connection, log);
    this.#groupSize = metrics.histogram(
      'write_batch_size',
      'Writes that shared a transaction',
      GROUP_SIZES,
    );
    this.#retries = metrics.counter(
      'write_retries_total',
      'Transactions that were aborted and whose writes were retried',
    );
    metrics.reading({
      name: 'write_queue_depth',
      help: 'Writes waiting for a transaction',
      read: () => this.#waiting.length,
    });
  }

  /**
   * Runs `work` in a transaction on an account. It may run several times, so it must have no effect
   * outside the transaction, and must not write to another account.
   *
   * @param options.isAlone whether it runs in a transaction of its own
   * @throws ApiError service_unavailable if the write is not confirmed in time
   */
  run<T>(
    userId: string,
    work: (tx: Transaction) => Promise<T>,
    { isAlone = false } = {},
  ): Promise<T> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(serviceUnavailable.error());
    let timer: NodeJS.Timeout | undefined;
    return new Promise<T>((resolve, reject) => {
      const write: QueuedWrite = {
        userId,
        work,
        deadline: performance.now() + DEADLINE_MS,
        isGivenUp: false,
        attempts: 0,
        isAlone,
        // The value comes from this very `work`.
        resolve: resolve as (value: unknown) => void,
        reject,
      };
      timer = setTimeout(() => {
        this.#expire(write);
      }, DEADLINE_MS);
      this.#waiting.push(write);
      const start = (): void => {
        this.#start();
      };
      if (this.#transactions === 0) setImmediate(start);
      else setTimeout(start, MAX_DELAY_MS);
    }).finally(() => {
      clearTimeout(timer);
    });
  }

  /** Runs `work` like {@link run}, returns its value and aborts the transaction. */
  async dryRun<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    let outcome: { value: T } | undefined;
    const undo = new Error('Dry run');
    try {
      const undone = async (tx: Transaction): Promise<never> => {
        outcome = { value: await work(tx) };
        await WriteBuffer.of(tx.session)?.flushAll();
        throw undo;
      };
      await this.run(userId, undone, { isAlone: true });
    } catch (error) {
      if (error !== undo) throw error;
    }
    if (!outcome) throw new Error('The dry run did not run.');
    return outcome.value;
  }

  #start(): void {
    while (this.#transactions < MAX_TRANSACTIONS) {
      const group = this.#nextGroup();
      if (group.length === 0) return;
      void this.#commit(group);
    }
  }

  /**
   * Takes the next writes from the queue: those of accounts with a single write, or those of one
   * account, so that no account waits for the backlog of another.
   */
  #nextGroup(): QueuedWrite[] {
    const free = this.#waiting.filter(({ userId }) => !this.#busy.has(userId));
    const byAccount = groupBy(free, ({ userId }) => userId);
    // Accounts of a sharded cluster may be on different shards.
    const { isSharded } = this.#dependencies.database;
    const mayShare = ([first, ...more]: readonly QueuedWrite[]): boolean =>
      first?.attempts === 0 && !first.isAlone && more.length === 0 && !isSharded;
    const [own = []] = byAccount.values();
    const writes = mayShare(own) ? [...byAccount.values()].filter(mayShare).flat() : own;
    const firstAlone = writes.findIndex(({ isAlone }) => isAlone);
    const size = firstAlone === -1 ? MAX_GROUP : Math.max(1, firstAlone);
    const group = writes.slice(0, Math.min(size, MAX_GROUP));
    const taken = new Set(group);
    this.#waiting = this.#waiting.filter((write) => !taken.has(write));
    for (const { userId } of group) this.#busy.add(userId);
    return group;
  }

  async #commit(group: readonly QueuedWrite[]): Promise<void> {
    const watch = setInterval(() => {
      void this.#rejectIfDown(group);
    }, PING_EVERY_MS);
    this.#transactions += 1;
    let failure: unknown;
    try {
      const values = await commitGroup(this.#dependencies, group);
      this.#groupSize.observe(group.length);
      for (const [index, { resolve }] of group.entries()) resolve(values[index]);
    } catch (error) {
      failure = error;
    } finally {
      clearInterval(watch);
      this.#transactions -= 1;
    }
    if (failure !== undefined) await this.#handleFailure(group, failure);
    for (const { userId } of group) this.#busy.delete(userId);
    this.#start();
  }

  /** Rejects the writes of a failed group, or queues them again. */
  async #handleFailure(group: readonly QueuedWrite[], error: unknown): Promise<void> {
    const [first] = group;
    const isConflict = mayRetry(error) && group.every(({ userId }) => userId === first?.userId);
    if (error instanceof CommitUnknownError || (group.length === 1 && !isConflict)) {
      for (const { reject } of group) reject(error);
      return;
    }
    this.#retries.inc();
    for (const write of group) {
      write.attempts += 1;
      write.isAlone ||= !isConflict;
    }
    this.#waiting.unshift(...group.filter(({ isGivenUp }) => !isGivenUp));
    for (const write of group) if (performance.now() >= write.deadline) this.#expire(write, error);
    if (!first || !isConflict) return;
    // The account stays busy during the pause.
    this.#start();
    await this.#pause(first, error);
  }

  /** Waits before a write is retried: another process may be writing to its account. */
  async #pause({ deadline, attempts }: QueuedWrite, error: unknown): Promise<void> {
    const now = performance.now();
    const isOld = now > deadline - DEADLINE_MS + ORPHANS_EVERY_MS;
    if (isOld && now >= this.#nextLook && !isConnectionError(error)) {
      this.#nextLook = now + ORPHANS_EVERY_MS;
      await this.#orphans.end();
    }
    await sleep(Math.random() * Math.min(200, 5 * 2 ** attempts));
  }

  /** Rejects a write that is still queued at its deadline. */
  #expire(write: QueuedWrite, cause?: unknown): void {
    const index = this.#waiting.indexOf(write);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    write.reject(new WriteTimeout(cause));
  }

  /**
   * Rejects all writes if MongoDB is down, which the driver takes 11 s to notice. They are neither
   * retried nor committed, unless the commit was already sent.
   */
  async #rejectIfDown(group: readonly QueuedWrite[]): Promise<void> {
    if (await this.#dependencies.database.ping()) return;
    for (const write of [...group, ...this.#waiting.splice(0)]) {
      write.isGivenUp = true;
      write.reject(new CommitUnknownError());
    }
  }
}
