import type { ErrorCode } from '../core/errors';
import type { Account, Tier } from '../core/identity';
import { capitalized } from '../core/text';
import { countSetting, type Setting, type Settings } from '../core/settings';
import { isRecord } from '../core/values';
import type { ModelDefinition, SharedTenant } from './models';
import type { Transaction } from './transaction';

/** How many records an account may have. */
export interface Quota {
  limits: Readonly<Record<Tier, Setting<number>>>;
  /** The error for a record over the limit. */
  error: ErrorCode;
}

/**
 * A quota whose limits operators set, by settings such as TIER_FREE_RECORDS.
 *
 * @param limits those of tiers for which nothing is set
 * @param may what accounts may do with so many
 */
export function tierQuota(
  records: string,
  limits: Readonly<Record<Tier, number>>,
  error: ErrorCode,
  may = 'may have',
): Quota {
  const settingOf = (tier: Tier): Setting<number> =>
    countSetting(
      `TIER_${tier}_${records}`.toUpperCase(),
      limits[tier],
      `${capitalized(records)} that a ${tier} account ${may}`,
    );
  return { limits: { free: settingOf('free'), pro: settingOf('pro') }, error };
}

/**
 * Counts the records of a model against a quota. {@link Records} then moves the usage of the account
 * with each record that it adds or deletes, and adds none over the limit.
 *
 * @param options.freedBy the field that frees the place of a record while it has a value; null where
 *   only a deletion for good does
 */
export function counted<T>(
  quota: string,
  definition: ModelDefinition<T, 'account'>,
  { freedBy = 'deletedAt' }: { freedBy?: string | null } = {},
): ModelDefinition<T, 'account'> {
  return { ...definition, quota: { name: quota, freedBy } };
}

/** Finds the records of a model that count against its quota. */
export function countedFilter({ quota }: Pick<ModelDefinition, 'quota'>): object {
  return quota?.freedBy ? { [quota.freedBy]: null } : {};
}

/** Counts the records of a model. */
export interface QuotaCounter {
  /** The field that frees the place of a record while it has a value. */
  freedBy: string | null;
  /**
   * Moves the usage of an account.
   *
   * @throws ApiError where records are added over the limit
   */
  move(tenant: SharedTenant, by: number): void;
}

/** How many of some records take a place. */
export function placesOf(records: readonly object[], freedBy: string | null): number {
  if (freedBy === null) return records.length;
  return records.filter((record) => !isRecord(record) || !record[freedBy]).length;
}

/** The quotas of all plugins. */
export class Quotas {
  readonly #quotas: ReadonlyMap<string, Quota>;
  readonly #settings: Settings;

  constructor(quotas: ReadonlyMap<string, Quota>, settings: Settings) {
    this.#quotas = quotas;
    this.#settings = settings;
  }

  /** How many more records an account may have; negative where it has more than it may. */
  left({ tier, usage }: Pick<Account, 'tier' | 'usage'>, name: string): number {
    return this.limit(tier, name) - (usage[name] ?? 0);
  }

  /** How many records an account of a tier may have. */
  limit(tier: Tier, name: string): number {
    return this.#settings.of(this.#quota(name).limits[tier]);
  }

  /** What counts the records of a model, where it has a quota. */
  counterOf({ quota }: Pick<ModelDefinition, 'quota'>): QuotaCounter | undefined {
    if (!quota) return undefined;
    const { name, freedBy } = quota;
    return { freedBy, move: (tenant, by) => { this.#move(transactionOf(tenant), name, by); } };
  }

  #move(tx: Transaction, name: string, by: number): void {
    const { account } = tx;
    const left = this.left(account, name);
    if (by > 0 && by > left) {
      const { error } = this.#quota(name);
      const allows = `The ${account.tier} tier allows`;
      throw error.error(
        by === 1
          ? `${error.meaning} ${allows} ${this.limit(account.tier, name)}.`
          : `${allows} ${Math.max(0, left)} more ${name}, and these are ${by}.`,
      );
    }
    tx.addUsage(name, by);
  }

  #quota(name: string): Quota {
    const quota = this.#quotas.get(name);
    if (!quota) throw new Error(`There is no quota ${name}.`);
    return quota;
  }
}

/** @throws Error outside of a transaction: usage moves with the records that are counted */
function transactionOf(tenant: SharedTenant): Transaction {
  if ('addUsage' in tenant) return tenant as Transaction;
  throw new Error('Records that count against a quota are added and deleted in a transaction.');
}
