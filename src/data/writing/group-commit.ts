import type { Account, Identity } from '../../core/identity';
import type { AuditLog, Recorded } from '../audit/audit-log';
import { type Acting, chainOf } from '../audit/entry';
import { CommitUnknownError, commitUntil } from './commit';
import { type Database, TRANSACTION_OPTIONS } from '../mongodb/database';
import type { CountRecords } from './derived';
import type { Listener } from './listener';
import type { Quotas } from '../model/quotas';
import type { Fence } from '../schema/fence';
import type { Transaction } from './transaction';
import { WriteBuffer } from './write-buffer';

/** What transactions need of the program; functions where it is not yet there when they are set up. */
export interface GroupCommitDependencies {
  database: Database;
  fence: Fence;
  audit: AuditLog;
  identity: () => Identity;
  listeners: () => readonly Listener[];
  quotas: Quotas;
  /** How to count what counts against each quota. */
  counts: () => ReadonlyMap<string, CountRecords>;
}

/** A write to an account, to be committed with others. */
export interface GroupedWrite {
  userId: string;
  work: (tx: Transaction) => Promise<unknown>;
  /** Until when an unknown outcome is asked for. */
  deadline: number;
  /** Whether its caller was told that it is not known to be done. */
  isGivenUp: boolean;
}

/**
 * Runs writes to one or more accounts in one transaction, in their order, and commits it.
 *
 * @returns the values of the writes
 * @throws CommitUnknownError where it may be committed; after any other error it is undone
 */
export async function commitGroup(
  dependencies: GroupCommitDependencies,
  writes: readonly GroupedWrite[],
): Promise<unknown[]> {
  const { database, fence, identity } = dependencies;
  fence.require();
  const session = await database.connection.startSession();
  try {
    session.startTransaction(TRANSACTION_OPTIONS);
    const userIds = [...new Set(writes.map(({ userId }) => userId))];
    const accounts = await identity().open(session, userIds);
    // Only the commit waits for it.
    const fenced = fence.look();
    fenced.catch(() => undefined);
    // Accounts are opened at once and not by the buffer, so that a conflict shows at the start.
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
    for (const { finish } of opened.values()) await finish();
    await buffer.flushAll();
    await fenced;
    const isGivenUp = (): boolean => writes.some((write) => write.isGivenUp);
    if (isGivenUp()) throw new CommitUnknownError();
    const deadline = Math.min(...writes.map((write) => write.deadline));
    await commitUntil(session, () => isGivenUp() || performance.now() >= deadline);
    return values;
  } finally {
    // Also undoes what is not committed.
    await session.endSession();
  }
}

/** The transaction of one account. */
interface OpenTransaction {
  tx: Transaction;
  /** Writes what was collected for the end. */
  finish: () => Promise<void>;
}

async function openTransaction(
  { identity, listeners, counts, audit, quotas }: GroupCommitDependencies,
  buffer: WriteBuffer,
  account: Account,
): Promise<OpenTransaction> {
  const { id: userId, revision } = account;
  const { session } = buffer;
  const usage: Record<string, number> = { ...account.usage };
  const added: Record<string, number> = {};
  const recorded: Recorded[] = [];
  const collected = new Map<Listener, unknown[]>();
  const handleCollected = async (): Promise<void> => {
    // Also what they emit themselves, which the map goes on with.
    for (const [listener, payloads] of collected) {
      collected.delete(listener);
      await listener.handle(tx, payloads as never);
    }
  };
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
    flush: async () => {
      await handleCollected();
      await buffer.flushAll();
    },
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
        for (const listener of listeners()) {
          if (listener.event !== event) continue;
          if (listener.isCollected) {
            const payloads = collected.get(listener);
            if (payloads) payloads.push(payload);
            else collected.set(listener, [payload]);
          } else {
            // It may read what those before it have led to.
            await handleCollected();
            // A listener of this event takes its payload: `on` has compared the types.
            await listener.handle(own, payload as never);
          }
        }
      },
      audit: (act) => {
        recorded.push({ act, acting });
      },
      as: transactionOf,
    };
    return own;
  };
  const tx = transactionOf(audit.self);
  buffer.transactions.set(userId, tx);
  // An account may be older than a quota, which is then counted at its next write.
  for (const [quota, count] of counts()) {
    if (usage[quota] === undefined) tx.addUsage(quota, await count(tx));
  }
  return {
    tx,
    finish: async () => {
      await handleCollected();
      if (recorded.length > 0) await audit.append(session, chainOf(userId), tx.now, recorded);
      if (Object.keys(added).length > 0) await identity().addUsage(session, userId, added);
    },
  };
}
