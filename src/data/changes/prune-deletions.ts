import { anyOf } from '../../core/ids';
import { unlessGone } from '../../core/identity';
import type { Database } from '../mongodb/database';
import { deletionModel } from './deletions';
import { everythingDeleted } from '../model/tracking';
import type { WriteQueue } from '../writing/write-queue';

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
  const deletions = database.model(deletionModel);
  const byRevision = deletions.findOne().of({ userId }).sort({ revision: -1, _id: -1 });
  const oldestKept = await byRevision.skip(kept - 1).select('revision').lean();
  if (!oldestKept) return;
  const { revision } = oldestKept;
  // First, so that no copy misses what is forgotten, whenever this is interrupted.
  const document = everythingDeleted({ userId, revision });
  await writeQueue.run(userId, ({ session }) => deletions.create([document], { session }));
  const older = deletions.find({ revision: { $lt: revision } }).of({ userId });
  while (!stopping.aborted) {
    const found = await older.clone().select('_id').limit(CHUNK).lean();
    if (found.length === 0) return;
    await deletions.deleteMany({ _id: anyOf(found.map(({ _id }) => _id)) }).of({ userId });
  }
}

/** Those that have more deletions, of which all of an account are counted by one command. */
async function* accountsWithMore(
  database: Database,
  most: number,
  counted: number,
  stopping: AbortSignal,
): AsyncGenerator<string> {
  const deletions = database.model(deletionModel);
  const why = 'which accounts have too many deletions';
  /** Whose is the last of the next that a command counts; undefined where there are fewer. */
  const endOfRange = async (after: string): Promise<string | undefined> => {
    const next = deletions.findOne({ userId: { $gt: after } }).acrossAccounts(why);
    const ordered = next.sort({ userId: 1 }).skip(counted - 1);
    return (await ordered.select({ _id: 0, userId: 1 }).lean())?.userId;
  };
  let after: string | undefined = '';
  while (after !== undefined && !stopping.aborted) {
    const end = await endOfRange(after);
    const range = { $gt: after, ...(end === undefined ? {} : { $lte: end }) };
    const found = await deletions
      .aggregate<{ _id: string }>([
        { $match: { userId: range } },
        { $sort: { userId: 1 } },
        { $group: { _id: '$userId', count: { $sum: 1 } } },
        { $match: { count: { $gt: most } } },
      ])
      .option({ acrossAccounts: why });
    yield* found.map(({ _id }) => _id);
    after = end;
  }
}
