import type { Database } from './database';
import { type DeletionDocument, deletionModel, everythingDeleted } from './deletions';
import { acrossAccounts } from './guard';
import type { AccountScope } from './models';

/** How many deletions of an account are remembered, and how many it may have until it is looked at. */
const KEPT = 50_000;
const MOST = 2 * KEPT;

/**
 * Forgets the oldest deletions of accounts that have very many: whoever has not got them yet begins
 * the copy anew.
 *
 * @param stopping ends it between two accounts
 */
export async function pruneDeletions(
  database: Database,
  stopping: AbortSignal,
  { kept, most } = { kept: KEPT, most: MOST },
): Promise<void> {
  const records = database.records(deletionModel);
  for (const userId of await accountsWithMore(database, most)) {
    if (stopping.aborted) return;
    const scope: AccountScope = { userId };
    const oldest = records.aggregate<Pick<DeletionDocument, 'revision'>>(scope, {}, [
      { $sort: { revision: -1, _id: -1 } },
      { $skip: kept - 1 },
      { $limit: 1 },
    ]);
    for await (const { revision } of oldest) {
      // First, so that no copy misses what is forgotten, whenever this is interrupted.
      await records.insertBulk(scope, [everythingDeleted({ userId, revision })]);
      await records.deleteMany(scope, { revision: { $lt: revision } });
    }
  }
}

async function accountsWithMore(database: Database, most: number): Promise<string[]> {
  const found = await acrossAccounts('which accounts have too many deletions', () =>
    database
      .model(deletionModel)
      .collection.aggregate<{ _id: string }>(
        [
          { $sort: { userId: 1 } },
          { $group: { _id: '$userId', count: { $sum: 1 } } },
          { $match: { count: { $gt: most } } },
        ],
        { allowDiskUse: true },
      )
      .toArray(),
  );
  return found.map(({ _id }) => _id);
}
