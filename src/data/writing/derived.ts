import type { Transaction } from './transaction';

/** Data that can be recomputed from its causes. */
export interface DerivedData {
  name: string;
  /** Recomputes it for the account of `tx`, writes what differs, and answers each difference. */
  rebuild(tx: Transaction): Promise<string[]>;
}

/** Counts the records of the account of `tx` that count against a quota. */
export type CountRecords = (tx: Transaction) => Promise<number>;

/** What counts against a quota, recomputed by counting the records themselves. */
export function quotaUsage(quota: string, count: CountRecords): DerivedData {
  return {
    name: `usage of ${quota}`,
    rebuild: async (tx) => {
      const stored = tx.account.usage[quota] ?? 0;
      const counted = await count(tx);
      if (stored === counted) return [];
      tx.addUsage(quota, counted - stored);
      return [`${stored} should be ${counted}`];
    },
  };
}
