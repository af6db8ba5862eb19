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
  gardenName?: string | null | undefined;
}

/** The tier after changes, and its end; a new tier without an end is permanent. */
export function tierOf(
  before: Account,
  changes: AccountChanges,
): Pick<Account, 'tier' | 'tierUntil'> {
  const end = changes.tier === undefined ? before.tierUntil : undefined;
  const { tier: given = before.tier, tierUntil = end } = changes;
  const tier = tierNow(given, tierUntil);
  // An end that has passed stays stored: its event may not have been recorded.
  if (tier === 'free' && tierNow('pro', before.tierUntil) === 'free') {
    return { tier, tierUntil: before.tierUntil };
  }
  return { tier, tierUntil: tierUntil ?? undefined };
}

export function changesBetween(before: Account, after: Account): Record<string, unknown> {
  const fields = ['tier', 'tierUntil', 'timezone', 'language', 'remindAt'] as const;
  const changed = fields.filter((field) => before[field]?.valueOf() !== after[field]?.valueOf());
  return {
    ...Object.fromEntries(
      changed.map((field) => [field, { from: before[field] ?? null, to: after[field] ?? null }]),
    ),
    // The audit log has no texts of people.
    ...(before.gardenName === after.gardenName ? {} : { gardenName: 'changed' }),
  };
}
