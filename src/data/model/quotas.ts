import type { Schema } from 'mongoose';

import { type ErrorCode, OperatorError } from '../../core/errors';
import type { Account, Tier } from '../../core/identity';
import { capitalized } from '../../core/text/text';
import { countSetting, type Setting, type Settings } from '../../core/settings/settings';
import { isRecord } from '../../core/values';
import {
  type AnyQuery,
  refuse,
  refuseOthers,
  ownerIn,
  transactionIn,
  txOf,
  UPDATES,
  updateIn,
} from '../writing/write-buffer';

/** A limit on the records of an account. */
export interface Quota {
  limits: Readonly<Record<Tier, Setting<number>>>;
  /** The error for a record over the limit. */
  error: ErrorCode;
}

/**
 * Declares a quota with a setting for each tier, such as TIER_FREE_RECORDS.
 *
 * @param limits the defaults of the settings
 * @param may completes the description "Records that a free account …"
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

/** How the records of a model count. */
interface Counting {
  quota: string;
  /** Records do not count while this field has a value. */
  exemptedBy?: string | undefined;
}

/**
 * Schema plugin that counts the records of a model against a quota: usage changes with each record that
 * is inserted or deleted, or starts or stops counting. Inserts over the limit throw.
 */
export function counted(schema: Schema, counting: Counting): void {
  const { quota, exemptedBy = '' } = counting;
  const counts = (record: object): boolean => !(record as Record<string, unknown>)[exemptedBy];
  schema.pre('bulkWrite', (writes, options) => {
    const inserted = writes.flatMap((write) => {
      if ('insertOne' in write) return write.insertOne.document as object;
      const update = updateIn(write);
      if (!update || update.upsert || exemptedBy in setBy(update.update)) refuse();
      return [];
    });
    const [first] = writes;
    const records = inserted.filter(counts).length;
    if (!first || records === 0) return;
    transactionIn(options?.session, ownerIn(first)).consume(quota, records);
  });
  // An update of one record names one that exists.
  schema.pre(UPDATES, async function move(this: AnyQuery) {
    if (this.getOptions().upsert) refuse();
    const set = setBy(this.getUpdate());
    if (!(exemptedBy in set)) return;
    const isExempt = !counts(set);
    const moved = await countOf(this, { [exemptedBy]: isExempt ? null : { $ne: null } });
    txOf(this).consume(quota, isExempt ? -moved : moved);
  });
  schema.post('findOneAndDelete', function release(this: AnyQuery, found: object | null) {
    if (found && counts(found)) txOf(this).consume(quota, -1);
  });
  schema.pre('deleteMany', async function release(this: AnyQuery) {
    txOf(this).consume(quota, -(await countOf(this, countedFilter(counting))));
  });
  refuseOthers(schema);
}

/** The filter for records that count. */
export function countedFilter({ exemptedBy }: Pick<Counting, 'exemptedBy'>): object {
  return exemptedBy === undefined ? {} : { [exemptedBy]: null };
}

function countOf(query: AnyQuery, filter: object): Promise<number> {
  const { userId, session } = txOf(query);
  const both = { userId, $and: [query.getFilter(), filter] };
  return query.model.countDocuments().where(both).session(session).exec();
}

/** The quotas of all plugins. */
export class Quotas {
  readonly #quotas: ReadonlyMap<
    string,
    { limits: Readonly<Record<Tier, number>>; error: ErrorCode }
  >;

  constructor(quotas: ReadonlyMap<string, Quota>, settings: Settings) {
    this.#quotas = new Map(
      [...quotas].map(([name, { limits, error }]) => [
        name,
        { limits: { free: settings.of(limits.free), pro: settings.of(limits.pro) }, error },
      ]),
    );
  }

  get names(): string[] {
    return [...this.#quotas.keys()];
  }

  /** How many more records an account may have. */
  left({ tier, usage }: Pick<Account, 'tier' | 'usage'>, name: string): number {
    return Math.max(0, this.limit(tier, name) - (usage[name] ?? 0));
  }

  /** How many records an account of a tier may have. */
  limit(tier: Tier, name: string): number {
    return this.#quota(name).limits[tier];
  }

  /**
   * Why an account has no room for more records, a sentence each.
   *
   * @param wanted how many records, by quota
   */
  shortages(
    account: Pick<Account, 'id' | 'tier' | 'usage'>,
    wanted: Readonly<Record<string, number>>,
  ): string[] {
    return Object.entries(wanted).flatMap(([quota, count]) => {
      const left = this.left(account, quota);
      const room = `the ${account.tier} tier leaves ${account.id} room for ${left}`;
      return count <= left ? [] : [`${quota}: ${count} needed, but ${room}.`];
    });
  }

  /** @throws OperatorError with the first of {@link shortages} */
  requireRoom(...given: Parameters<Quotas['shortages']>): void {
    const [shortage] = this.shortages(...given);
    if (shortage !== undefined) throw new OperatorError(shortage);
  }

  /** @throws ApiError if so many more records would exceed the limit */
  require(account: Pick<Account, 'tier' | 'usage'>, name: string, more: number): void {
    const left = this.left(account, name);
    if (more <= 0 || more <= left) return;
    const { error } = this.#quota(name);
    const tier = `the ${account.tier} tier`;
    throw error.error(
      more === 1
        ? `${error.meaning} ${capitalized(tier)} allows ${this.limit(account.tier, name)}.`
        : `This request would add ${more} ${name}; ${tier} leaves room for ${left}.`,
    );
  }

  #quota(name: string) {
    const quota = this.#quotas.get(name);
    if (!quota) throw new Error(`There is no quota ${name}.`);
    return quota;
  }
}

function setBy(update: unknown): object {
  return isRecord(update) && isRecord(update['$set']) ? update['$set'] : {};
}
