import pLimit from 'p-limit';

import { type Identity, isAccountGone } from '../core/identity';
import { reasonOf } from '../core/values';
import { accountTarget, type Act } from '../data/audit/entry';
import type { Database } from '../data/mongodb/database';
import type { DerivedData } from '../data/writing/derived';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';

/** How many accounts are recomputed at once: enough to keep MongoDB and this process busy. */
const ACCOUNTS_AT_ONCE = 8;

/** Derived data that differs from the result of recomputing it. */
export interface Difference {
  user: string;
  derived: string;
  /** The stored value and the right one. */
  difference: string;
}

export interface Reconciliation {
  checked: number;
  differences: Difference[];
  /** Accounts whose data could not be recomputed. */
  failures: { user: string; reason: string }[];
  repaired: boolean;
}

/** The part of the app that reconciliation uses. */
interface Reconcilable {
  database: Database;
  identity: Identity;
  writeQueue: WriteQueue;
  derived: readonly DerivedData[];
}

/** Recomputes all derived data of the account of `tx`; returns the differences. */
export async function rebuildAll(
  derived: readonly DerivedData[],
  tx: Transaction,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const data of derived) {
    for (const difference of await data.rebuild(tx)) {
      differences.push({ user: tx.account.id, derived: data.name, difference });
    }
  }
  return differences;
}

/**
 * Recomputes the derived data of every account, each in its own transaction, so that the service can
 * keep running. Without `repair` the transactions are rolled back. A failure is reported and does not
 * affect other accounts; accounts that are deleted meanwhile are skipped.
 *
 * @param onAccount called after each account, with the total number of accounts
 */
export async function reconcile(
  { database, identity, writeQueue, derived }: Reconcilable,
  { repair, onAccount }: { repair: boolean; onAccount?: (total: number) => void },
): Promise<Reconciliation> {
  const userIds = await identity.accountIds();
  const failures: Reconciliation['failures'] = [];
  let checked = userIds.length;
  const reconcileOne = async (userId: string): Promise<Difference[]> => {
    const rebuild = async (tx: Transaction) => {
      const differing = await rebuildAll(derived, tx);
      if (repair && differing.length > 0) tx.audit(repairOf(userId, differing));
      return differing;
    };
    try {
      return repair
        ? await writeQueue.run(userId, rebuild, { isAlone: true })
        : await writeQueue.dryRun(userId, rebuild);
    } catch (error) {
      // Without MongoDB, each of the other accounts would time out as well.
      if (!(await database.ping())) throw error;
      if (isAccountGone(error)) checked -= 1;
      else failures.push({ user: userId, reason: reasonOf(error) });
      return [];
    } finally {
      onAccount?.(userIds.length);
    }
  };
  const differences = (await pLimit(ACCOUNTS_AT_ONCE).map(userIds, reconcileOne)).flat();
  return { checked, differences, failures, repaired: repair };
}

/** The audit entry of a repair, with counts alone: the differences would reveal personal data. */
function repairOf(userId: string, differences: readonly Difference[]): Act {
  const changes: Record<string, number> = {};
  for (const { derived } of differences) changes[derived] = (changes[derived] ?? 0) + 1;
  return { action: 'account.reconciled', target: accountTarget(userId), changes };
}
