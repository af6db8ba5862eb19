import { anyOf } from '../core/ids';
import { ApiError } from '../core/errors';
import type { Database } from './database';
import { type DeletionDocument, deletionModel, everythingDeleted } from './deletions';
import { acrossAccounts } from './guard';
import type { UnitOfWork } from './unit-of-work';

/** How many deletions of an account are remembered, and how many it may have until it is looked at. */
const KEPT = 50_000;
const MOST = 2 * KEPT;
/** How many are deleted by a command. */
const CHUNK = 1000;

interface Dependencies {
  database: Database;
  unitOfWork: UnitOfWork;
}

/**
 * Forgets the oldest deletions of accounts that have very many: whoever has not got them yet begins
 * the copy anew.
 *
 * @param stopping ends it, to be gone on with another time
 */
export async function pruneDeletions(
  dependencies: Dependencies,
  stopping: AbortSignal,
  { kept, most } = { kept: KEPT, most: MOST },
): Promise<void> {
  for (const userId of await accountsWithMore(dependencies.database, most, stopping)) {
    if (stopping.aborted) return;
    await prune(dependencies, userId, kept, stopping).catch((error: unknown) => {
      // Nobody gets into an account that is being deleted.
      if (!(error instanceof ApiError)) throw error;
    });
  }
}

async function prune(
  { database, unitOfWork }: Dependencies,
  userId: string,
  kept: number,
  stopping: AbortSignal,
): Promise<void> {
  const records = database.records(deletionModel);
  const scope = { userId };
  const oldestKept = records.aggregate<Pick<DeletionDocument, 'revision'>>(scope, {}, [
    { $sort: { revision: -1, _id: -1 } },
    { $skip: kept - 1 },
    { $limit: 1 },
  ]);
  for await (const { revision } of oldestKept) {
    // First, so that no copy misses what is forgotten, whenever this is interrupted.
    const marker = everythingDeleted({ userId, revision });
    await unitOfWork.run(userId, (tx) => records.insertBulk(tx, [marker]));
    const older = { revision: { $lt: revision } };
    const options = { limit: CHUNK, projection: { _id: 1 } } as const;
    while (!stopping.aborted) {
      const ids = [...(await records.find(scope, older, options))].map(({ _id }) => _id);
      if (ids.length === 0) return;
      await records.deleteMany(scope, { _id: anyOf(ids) });
    }
  }
}

async function accountsWithMore(
  database: Database,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await acrossAccounts('which accounts have too many deletions', () =>
    database
      .model(deletionModel)
      .collection.aggregate<{ _id: string }>(
        [
          { $sort: { userId: 1 } },
          { $group: { _id: '$userId', count: { $sum: 1 } } },
          { $match: { count: { $gt: most } } },
        ],
        { allowDiskUse: true, signal },
      )
      .toArray(),
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return [];
  });
  return found.map(({ _id }) => _id);
}
