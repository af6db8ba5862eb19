import type { Account, Tier } from '../core/identity';
import type { Settings } from '../core/settings';
import type { Transaction } from '../data/transaction';
import type { Quota } from './plugin';

/** How many records of a kind accounts may have, and have. */
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

  /** @throws ApiError where the account of `tx` has more records than it may */
  check({ account }: Transaction, name: string): void {
    if (this.left(account, name) >= 0) return;
    const { error } = this.#quota(name);
    const limit = this.limit(account.tier, name);
    throw error.error(`${error.meaning} The ${account.tier} tier allows ${limit}.`);
  }

  #quota(name: string): Quota {
    const quota = this.#quotas.get(name);
    if (!quota) throw new Error(`There is no quota ${name}.`);
    return quota;
  }
}
