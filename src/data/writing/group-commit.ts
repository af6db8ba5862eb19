import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../../core/errors';
import type { Identity } from '../../core/identity';
import type { AuditLog, Recorded } from '../audit/audit-log';
import { chainOf } from '../audit/entry';
import { type Database, TRANSACTION_OPTIONS } from '../mongodb/database';
import { isOutcomeUnknown } from '../mongodb/errors';
import { AccountTransaction, OpenAccount } from './account-transaction';
import type { CountRecords } from './derived';
import type { Listener, Transaction } from './transaction';
import type { Quotas } from '../model/quotas';
import type { Fence } from '../schema/fence';
import { transactionIn, WriteBuffer } from './write-buffer';

/** How long to wait before a commit is retried. */
const RETRY_MS = 50;

/** A write was not confirmed in time. */
export class WriteTimeout extends ApiError {
  constructor(cause?: unknown) {
    super(serviceUnavailable, 'The database did not confirm the write in time; try again shortly.');
    this.cause = cause;
  }
}

/** The outcome of a commit is unknown, so its writes must not be retried. */
export class CommitUnknownError extends WriteTimeout {}

/** Dependencies of transactions. */
export interface GroupCommitDependencies {
  database: Database;
  fence: Fence;
  audit: AuditLog;
  identity: Identity;
  /** In the order of the plugins. */
  listeners: readonly Listener[];
  quotas: Quotas;
  /** How to count the records of each quota. */
  counts: ReadonlyMap<string, CountRecords>;
}

/** A write to an account, committed in a group. */
export interface GroupedWrite {
  userId: string;
  work: (tx: Transaction) => Promise<unknown>;
  /** Until when a commit is retried whose outcome is unknown. */
  deadline: number;
  /** Whether it was rejected already because its outcome is unknown. */
  isGivenUp: boolean;
}

/**
 * Runs writes to one or more accounts in one transaction, in order, and commits it.
 *
 * @returns the values of the writes
 * @throws CommitUnknownError if it may be committed; after any other error it is aborted
 */
export async function commitGroup(
  dependencies: GroupCommitDependencies,
  writes: readonly GroupedWrite[],
): Promise<unknown[]> {
  const { audit, database, fence, identity } = dependencies;
  fence.require();
  const session = await database.connection.startSession();
  try {
    session.startTransaction(TRANSACTION_OPTIONS);
    const userIds = [...new Set(writes.map(({ userId }) => userId))];
    const accounts = await identity.open(session, userIds);
    // Awaited before the commit.
    const fenced = fence.look();
    fenced.catch(() => undefined);
    const buffer = new WriteBuffer(session);
    const opened = accounts.map((account) => new OpenAccount(account, session));
    for (const open of opened) await begin(dependencies, buffer, open);
    const values: unknown[] = [];
    for (const { userId, work } of writes) values.push(await work(transactionIn(session, userId)));
    const chains = new Map<string, Recorded[]>();
    for (const { account, recorded } of opened) {
      for (const each of recorded) {
        const chain = chainOf(each.acting, account.id);
        chains.set(chain, [...(chains.get(chain) ?? []), each]);
      }
    }
    await audit.append(session, chains);
    const added = opened.map((open) => [open.account.id, open.added] as const);
    await identity.close(session, new Map(added));
    await buffer.flushAll();
    await fenced;
    const isGivenUp = (): boolean => writes.some((write) => write.isGivenUp);
    if (isGivenUp()) throw new CommitUnknownError();
    const deadline = Math.min(...writes.map((write) => write.deadline));
    await commitUntil(session, () => isGivenUp() || performance.now() >= deadline);
    return values;
  } finally {
    // Also aborts what is not committed.
    await session.endSession();
  }
}

/**
 * Commits, and retries while the outcome is unknown: MongoDB identifies the transaction by its number,
 * even after a restart, and returns what became of it.
 *
 * @throws CommitUnknownError if the outcome is still unknown once `isOver`
 */
async function commitUntil(session: ClientSession, isOver: () => boolean): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (isOver()) throw new CommitUnknownError(error);
      await sleep(RETRY_MS);
    }
  }
}

/** Begins the transaction of an account. */
async function begin(
  { listeners, counts, audit, quotas }: GroupCommitDependencies,
  buffer: WriteBuffer,
  open: OpenAccount,
): Promise<void> {
  const tx = new AccountTransaction(open, audit.self, { listeners, quotas });
  buffer.transactions.set(tx.userId, tx);
  // Quotas that are newer than the account are counted at its next write.
  for (const [quota, count] of counts) {
    if (tx.account.usage[quota] === undefined) tx.addUsage(quota, await count(tx));
  }
}
