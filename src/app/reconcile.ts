import { type Identity, isAccountGone } from '../core/identity';
import { reasonOf } from '../core/values';
import { accountTarget, type Act } from '../data/audit/entry';
import type { Database } from '../data/mongodb/database';
import type { DerivedData } from '../data/writing/derived';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';

/** Derived data that is not what its causes say it should be. */
export interface Difference {
  user: string;
  /** Name of the derived data. */
  derived: string;
  /** What it is, and what it should be. */
  difference: string;
}

/** What was found of all accounts. */
export interface Reconciliation {
  /** How many accounts were looked at. */
  checked: number;
  differences: Difference[];
  /** Accounts whose data could not be recomputed, and why. */
  failures: { user: string; reason: string }[];
  /** Whether the differences are put right. */
  repaired: boolean;
}

/** What is needed of the program to reconcile its data. */
interface Reconcilable {
  database: Database;
  identity: Identity;
  writeQueue: WriteQueue;
  derived: readonly DerivedData[];
}

/** Recomputes all derived data of the account of `tx`; answers what differed. */
export async function rebuildAll(
  derived: readonly DerivedData[],
  tx: Transaction,
): Promise<Difference[]> {
  await tx.flush();
  const differences: Difference[] = [];
  for (const data of derived) {
    for (const difference of await data.rebuild(tx)) {
      differences.push({ user: tx.account.id, derived: data.name, difference });
    }
  }
  return differences;
}

/**
 * Recomputes the derived data of every account, each in a transaction of its own, so
 * that it can be done while the service runs. Only `repair` keeps what was computed. An account
 * that fails does not keep the others from it; one that is deleted meanwhile is left out.
 *
 * @param onAccount called after each account with the number of all accounts
 */
export async function reconcile(
  { database, identity, writeQueue, derived }: Reconcilable,
  { repair, onAccount }: { repair: boolean; onAccount?: (total: number) => void },
): Promise<Reconciliation> {
  const userIds = await identity.accountIds();
  const differences: Difference[] = [];
  const failures: Reconciliation['failures'] = [];
  let checked = userIds.length;
  for (const userId of userIds) {
    const rebuild = async (tx: Transaction) => {
      const differing = await rebuildAll(derived, tx);
      if (repair && differing.length > 0) tx.audit(repairOf(userId, differing));
      return differing;
    };
    try {
      const found = repair
        ? await writeQueue.run(userId, rebuild)
        : await writeQueue.dryRun(userId, rebuild);
      differences.push(...found);
    } catch (error) {
      // Where MongoDB is away the others would each wait for it, and fail like this one.
      if (!(await database.ping())) throw error;
      if (isAccountGone(error)) checked -= 1;
      else failures.push({ user: userId, reason: reasonOf(error) });
    }
    onAccount?.(userIds.length);
  }
  return { checked, differences, failures, repaired: repair };
}

/** How many differences there were of each derived data; they themselves show what people did. */
function repairOf(userId: string, differences: readonly Difference[]): Act {
  const changes: Record<string, number> = {};
  for (const { derived } of differences) changes[derived] = (changes[derived] ?? 0) + 1;
  return { action: 'account.reconciled', target: accountTarget(userId), changes };
}
