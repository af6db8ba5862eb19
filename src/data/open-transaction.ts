import type { ClientSession } from 'mongoose';

import type { Account, Identity } from '../core/identity';
import type { AuditLog, Recorded } from './audit/audit-log';
import { type Acting, chainOf } from './audit/entry';
import type { CountRecords } from './derived';
import type { DomainEvent } from './domain-event';
import type { Listener } from './listener';
import { PendingWrites } from './pending-writes';
import type { Transaction } from './transaction';

/** What transactions need of the program, which is not yet there when it is put together. */
export interface TransactionDependencies {
  identity: () => Identity;
  listeners: () => readonly Listener[];
  /** How to count what counts against each quota. */
  counts: () => ReadonlyMap<string, CountRecords>;
  audit: AuditLog;
}

interface OpenAccount {
  tx: Transaction;
  /** Writes, or lets wait, what was collected. */
  finish(): Promise<void>;
}

interface OpenTransaction {
  /** In the order in which they were named. */
  accounts: Pick<OpenAccount, 'tx'>[];
  /**
   * Writes what was collected; to be called before the commit.
   *
   * @param onFinished told of each account whose own is done
   */
  finish(onFinished?: (userId: string) => void): Promise<void>;
}

/** Opens writes to accounts in the transaction of `session`. */
export async function openTransaction(
  dependencies: TransactionDependencies,
  session: ClientSession,
  userIds: readonly string[],
): Promise<OpenTransaction> {
  const found = await dependencies.identity().open(session, userIds);
  // From now on writes wait for others; that accounts are written to must be known at once.
  const pending = new PendingWrites(session);
  const accounts: OpenAccount[] = [];
  for (const account of found) {
    accounts.push(await openAccount(dependencies, session, account, pending));
  }
  return {
    accounts,
    finish: async (onFinished) => {
      for (const account of accounts) {
        await account.finish();
        onFinished?.(account.tx.userId);
      }
      await pending.flushAll();
    },
  };
}

async function openAccount(
  { identity, listeners, counts, audit }: TransactionDependencies,
  session: ClientSession,
  account: Account,
  pending: PendingWrites,
): Promise<OpenAccount> {
  const userId = account.id;
  const usage: Record<string, number> = { ...account.usage };
  const unwritten: Record<string, number> = {};
  const collected = new CollectedPayloads();
  const shared = {
    userId,
    session,
    account: { ...account, usage },
    now: new Date(),
    revision: account.revision + 1,
    flush: async () => {
      await collected.handle(tx);
      await pending.flushAll();
    },
    addUsage: (quota: string, by: number) => {
      add(unwritten, quota, by);
      add(usage, quota, by);
    },
  };
  const recorded: Recorded[] = [];
  const transactionOf = (acting: Acting): Transaction => {
    const own: Transaction = {
      ...shared,
      emit: async <Payload>(event: DomainEvent<Payload>, payload: Payload) => {
        // A listener to another domain event may read what those before have led to.
        if (!collected.areAll(event)) await collected.handle(tx);
        for (const listener of listeners()) {
          if (listener.event !== event) continue;
          if (listener.isCollected) collected.add(listener, payload);
          // A listener of this very event takes its payload: `on` has compared the types.
          else await listener.handle(own, payload as never);
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
  // An account may be older than a quota: what it has by then is counted at its next write.
  for (const [quota, count] of counts()) {
    if (usage[quota] === undefined) tx.addUsage(quota, await count(tx));
  }
  return {
    tx,
    finish: async () => {
      await collected.handle(tx);
      if (recorded.length > 0) await audit.append(session, chainOf(userId), tx.now, recorded);
      if (Object.keys(unwritten).length === 0) return;
      await identity().addUsage(session, userId, unwritten);
    },
  };
}

/** What was emitted, for the listeners that collect it. */
class CollectedPayloads {
  readonly #payloads = new Map<Listener, unknown[]>();

  /** Whether there is nothing of another domain event. */
  areAll(event: DomainEvent<unknown>): boolean {
    return [...this.#payloads.keys()].every((listener) => listener.event === event);
  }

  add(listener: Listener, payload: unknown): void {
    const payloads = this.#payloads.get(listener) ?? [];
    payloads.push(payload);
    this.#payloads.set(listener, payloads);
  }

  /** Also what listeners emit meanwhile, until there is nothing more. */
  async handle(tx: Transaction): Promise<void> {
    while (this.#payloads.size > 0) {
      const collected = [...this.#payloads];
      this.#payloads.clear();
      for (const [listener, payloads] of collected) {
        // As of single payloads: `onAll` has compared the types.
        await listener.handle(tx, payloads as never);
      }
    }
  }
}

function add(usage: Record<string, number>, name: string, by: number): void {
  usage[name] = (usage[name] ?? 0) + by;
}
