import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../../core/errors';
import type { Account, Identity, Usage } from '../../core/identity';
import type { AuditLog, Recorded } from '../audit/audit-log';
import { type Acting, accountChain } from '../audit/entry';
import { type Database, TRANSACTION_OPTIONS } from '../mongodb/database';
import { isOutcomeUnknown } from '../mongodb/errors';
import type { CountRecords } from './derived';
import type { Listener, Transaction } from './transaction';
import type { Quotas } from '../model/quotas';
import type { Fence } from '../schema/fence';
import { WriteBuffer } from './write-buffer';

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
    const opened = new Map<string, OpenTransaction>();
    for (const account of accounts) {
      opened.set(account.id, await openTransaction(dependencies, buffer, account));
    }
    const values: unknown[] = [];
    for (const { userId, work } of writes) {
      const open = opened.get(userId);
      if (!open) throw new Error('The account is not open.');
      values.push(await work(open.tx));
    }
    const acted = [...opened].filter(([, { recorded }]) => recorded.length > 0);
    const chains = acted.map(([id, { recorded }]) => [accountChain(id), recorded] as const);
    await audit.append(session, new Map(chains));
    await identity.close(session, new Map([...opened].map(([id, { added }]) => [id, added])));
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

/** The transaction of one account. */
interface OpenTransaction {
  tx: Transaction;
  /** For the audit log. */
  recorded: readonly Recorded[];
  /** Added to the usage of quotas. */
  added: Usage;
}

async function openTransaction(
  { listeners, counts, audit, quotas }: GroupCommitDependencies,
  buffer: WriteBuffer,
  account: Account,
): Promise<OpenTransaction> {
  const { id: userId, revision } = account;
  const { session } = buffer;
  const usage: Record<string, number> = { ...account.usage };
  const added: Record<string, number> = {};
  const recorded: Recorded[] = [];
  const opened = { ...account, usage };
  const addUsage = (quota: string, by: number): void => {
    for (const each of [usage, added]) each[quota] = (each[quota] ?? 0) + by;
  };
  const shared = {
    userId,
    session,
    account: opened,
    now: new Date(),
    revision: revision + 1,
    takePlaces: (quota: string, places: number) => {
      quotas.require(opened, quota, places);
      addUsage(quota, places);
    },
    addUsage,
  };
  const transactionOf = (acting: Acting): Transaction => {
    const own: Transaction = {
      ...shared,
      emit: async (event, payload) => {
        for (const listener of listeners) {
          // `on` has checked that the listener takes this payload.
          if (listener.event === event) await listener.handle(own, payload as never);
        }
      },
      audit: (act) => {
        recorded.push({ time: shared.now, act, acting });
      },
      as: transactionOf,
    };
    return own;
  };
  const tx = transactionOf(audit.self);
  buffer.transactions.set(userId, tx);
  // Quotas that are newer than the account are counted at its next write.
  for (const [quota, count] of counts) {
    if (usage[quota] === undefined) tx.addUsage(quota, await count(tx));
  }
  return { tx, recorded, added };
}
