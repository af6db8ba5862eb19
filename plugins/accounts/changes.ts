import type { Account, Tier } from '../../src/core/identity';
import { tierNow } from './model';

/** Changes to an account; undefined fields stay as they are. */
export interface AccountChanges {
  tier?: Tier | undefined;
  /** When the tier becomes free again; never if left out. */
  tierUntil?: Date | null | undefined;
  timezone?: string | undefined;
  language?: string | undefined;
  remindAt?: string | null | undefined;
}

/** The tier after changes, and its end; a new tier without an end is permanent. */
export function tierOf(
  before: Account,
  changes: AccountChanges,
): Pick<Account, 'tier' | 'tierUntil'> {
  const end = changes.tier === undefined ? before.tierUntil : undefined;
  const { tier = before.tier, tierUntil = end } = changes;
  return { tier: tierNow(tier, tierUntil), tierUntil: tierUntil ?? undefined };
}

export function changesBetween(before: Account, after: Account): Record<string, unknown> {
  const fields = ['tier', 'tierUntil', 'timezone', 'language', 'remindAt'] as const;
  const changed = fields.filter((field) => before[field]?.valueOf() !== after[field]?.valueOf());
  return Object.fromEntries(
    changed.map((field) => [field, { from: before[field] ?? null, to: after[field] ?? null }]),
  );
}
