import { type Account, ACCOUNT_ID, isBackend } from '../../src/core/identity';
import { batchesOf } from '../../src/data/model/batches';
import type { Host } from '../../src/plugins/host';
import { accountModel, asAccount, NOT_DELETED, PREFERENCES } from './model';
import { type RevisionPosition, RevisionStream } from './revision-stream';

/** Lists of accounts. */
export class AccountLists {
  readonly #accounts;

  constructor(host: Host) {
    this.#accounts = host.model(accountModel);
  }

  /** All accounts of people, by id. */
  async accounts(): Promise<Account[]> {
    const accounts = await this.#accounts.find().sort({ _id: 1 }).lean();
    return accounts.map(asAccount).filter(({ id }) => !isBackend(id));
  }

  /** The accounts of people after an id, by id, among those that a backend can name. */
  async accountsAfter(id: string, limit: number): Promise<Account[]> {
    const named = { _id: { $gt: id, $regex: ACCOUNT_ID }, ...NOT_DELETED };
    const found = await this.#accounts.find(named).sort({ _id: 1 }).limit(limit).lean();
    return found.map(asAccount);
  }

  /** Those of some accounts that exist and are not being deleted. */
  async open(ids: readonly string[]): Promise<Account[]> {
    const found = await this.#accounts.find({ _id: { $in: ids }, ...NOT_DELETED }).lean();
    return found.map(asAccount);
  }

  /** The accounts whose revision changes. @param position where to begin; now, if left out */
  revisions(position?: RevisionPosition): RevisionStream {
    return new RevisionStream(this.#accounts, position);
  }

  /** The time zones of all accounts, each with one account in it. */
  async timezones(): Promise<{ timezone: string; userId: string }[]> {
    return this.#accounts.aggregate([
      { $sort: { timezone: 1, remindAt: 1, _id: 1 } },
      { $group: { _id: '$timezone', userId: { $first: '$_id' } } },
      { $project: { _id: 0, timezone: '$_id', userId: 1 } },
    ]);
  }

  /** The accounts in a time zone that are reminded after one time of day, up to another. */
  async *toRemind(timezone: string, after: string, to: string): AsyncGenerator<Account[]> {
    const isDefault = after < PREFERENCES.remindAt && PREFERENCES.remindAt <= to;
    const times = [{ $gt: after, $lte: to }, ...(isDefault ? [{ $exists: false }] : [])];
    for (const remindAt of times) {
      const found = this.#accounts.find({ timezone, remindAt, ...NOT_DELETED });
      for await (const batch of batchesOf(found.sort({ remindAt: 1, _id: 1 }).lean())) {
        yield batch.map(asAccount);
      }
    }
  }

  /** The accounts whose tier ended after one moment, up to another. */
  async *lapsed(after: Date, to: Date): AsyncGenerator<Account[]> {
    const lapsed = { tierUntil: { $gt: after, $lte: to }, tier: { $ne: 'free' as const } };
    const found = this.#accounts.find({ ...lapsed, ...NOT_DELETED }).lean();
    for await (const batch of batchesOf(found)) yield batch.map(asAccount);
  }
}
