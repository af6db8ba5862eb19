import type { Transaction } from './transaction';

/** Data that can be recomputed from other data. */
export interface DerivedData {
  name: string;
  /** Recomputes it for the account of `tx`, writes what differs, and returns the differences. */
  rebuild(tx: Transaction): Promise<string[]>;
}

/** Counts the records of the account of `tx` against a quota. */
export type CountRecords = (tx: Transaction) => Promise<number>;

/** The usage of a quota, recomputed by counting records. */
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
