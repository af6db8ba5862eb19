import { anyOf } from '../core/ids';
import { unlessGone } from '../core/identity';
import type { Database } from './database';
import { type DeletionDocument, deletionModel, everythingDeleted } from './deletions';
import { acrossAccounts } from './guard';
import type { WriteQueue } from './write-queue';

/** How many deletions of an account are remembered, and how many it may have until it is looked at. */
const KEPT = 50_000;
const MOST = 2 * KEPT;
/** How many are deleted by a command. */
const CHUNK = 1000;
/** How many are counted by a command, which takes half a second for so many. */
const COUNTED = 500_000;

interface Dependencies {
  database: Database;
  writeQueue: WriteQueue;
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
  { kept, most, counted } = { kept: KEPT, most: MOST, counted: COUNTED },
): Promise<void> {
  for await (const userId of accountsWithMore(dependencies.database, most, counted, stopping)) {
    if (stopping.aborted) return;
    await unlessGone(prune(dependencies, userId, kept, stopping));
  }
}

async function prune(
  { database, writeQueue }: Dependencies,
  userId: string,
  kept: number,
  stopping: AbortSignal,
): Promise<void> {
  const records = database.records(deletionModel);
  const tenant = { userId };
  const oldestKept = records.aggregate<Pick<DeletionDocument, 'revision'>>(tenant, {}, [
    { $sort: { revision: -1, _id: -1 } },
    { $skip: kept - 1 },
    { $limit: 1 },
  ]);
  for await (const { revision } of oldestKept) {
    // First, so that no copy misses what is forgotten, whenever this is interrupted.
    const marker = everythingDeleted({ userId, revision });
    await writeQueue.run(userId, (tx) => records.insertBulk(tx, [marker]));
    const older = { revision: { $lt: revision } };
    const options = { limit: CHUNK, projection: { _id: 1 } } as const;
    while (!stopping.aborted) {
      const ids = [...(await records.find(tenant, older, options))].map(({ _id }) => _id);
      if (ids.length === 0) return;
      await records.deleteMany(tenant, { _id: anyOf(ids) });
    }
  }
}

/** Those that have more deletions, of which all of an account are counted by one command. */
async function* accountsWithMore(
  database: Database,
  most: number,
  counted: number,
  stopping: AbortSignal,
): AsyncGenerator<string> {
  const { collection } = database.model(deletionModel);
  const count = <T>(work: () => Promise<T>): Promise<T> =>
    acrossAccounts('which accounts have too many deletions', work);
  /** Whose is the last of the next that a command counts; undefined where there are fewer. */
  const endOfRange = async (after: string): Promise<string | undefined> => {
    const end = await count(() =>
      collection.findOne<Pick<DeletionDocument, 'userId'>>(
        { userId: { $gt: after } },
        { sort: { userId: 1 }, skip: counted - 1, projection: { _id: 0, userId: 1 } },
      ),
    );
    return end?.userId;
  };
  let after: string | undefined = '';
  while (after !== undefined && !stopping.aborted) {
    const end = await endOfRange(after);
    const range = { $gt: after, ...(end === undefined ? {} : { $lte: end }) };
    const found = await count(() =>
      collection
        .aggregate<{ _id: string }>([
          { $match: { userId: range } },
          { $sort: { userId: 1 } },
          { $group: { _id: '$userId', count: { $sum: 1 } } },
          { $match: { count: { $gt: most } } },
        ])
        .toArray(),
    );
    yield* found.map(({ _id }) => _id);
    after = end;
  }
}
