import { Schema } from 'mongoose';

import { forEachTried } from '../../core/each';
import { DAY_MS } from '../../core/time';
import { accountModel } from '../model/models';
import { DELETION, type DeletionDocument, everythingDeleted } from '../model/tracking';
import { unlessGone } from '../../core/identity';
import { anyOf, IdType } from '../../core/ids';
import type { Database } from '../mongodb/database';
import type { WriteQueue } from '../writing/write-queue';

/** Days for which deletions are kept. */
export const DELETIONS_KEPT_DAYS = 90;

/** Longer, since cursors count whole days. */
const EXPIRES_AFTER_SECONDS = ((DELETIONS_KEPT_DAYS + 2) * DAY_MS) / 1000;

export const deletionModel = accountModel<DeletionDocument>(
  DELETION,
  new Schema<DeletionDocument>(
    {
      _id: { type: IdType, required: true },
      userId: { type: String, required: true },
      kind: { type: String, required: true },
      id: { type: IdType, required: true },
      revision: { type: Number, required: true },
      deletedAt: { type: Date, required: true },
    },
    { collection: 'deletions' },
  )
    // Deletions since a revision.
    .index({ userId: 1, revision: 1, _id: 1 })
    // Expiry.
    .index({ deletedAt: 1 }, { expireAfterSeconds: EXPIRES_AFTER_SECONDS }),
);

/** How many deletions of an account are kept once it has more than the maximum. */
const KEPT = 50_000;
const MAX = 2 * KEPT;
/** How many are deleted by one command. */
const CHUNK = 1000;

interface Dependencies {
  database: Database;
  writeQueue: WriteQueue;
}

/**
 * Deletes the oldest deletions of accounts that have too many. A client that has not received them
 * starts its copy again.
 *
 * @param stopping ends the run; the next one continues
 */
export async function pruneDeletions(
  dependencies: Dependencies,
  stopping: AbortSignal,
  limits = { kept: KEPT, max: MAX },
): Promise<void> {
  await forEachTried(
    accountsWithDeletions(dependencies.database),
    (userId) => unlessGone(prune(dependencies, userId, limits, stopping)),
    { accountOf: (userId) => userId, isOver: () => stopping.aborted },
  );
}

/** The ids of all accounts with deletions, in order. */
async function* accountsWithDeletions(database: Database): AsyncGenerator<string> {
  const deletions = database.model(deletionModel);
  for (let last: string | undefined = ''; last !== undefined;) {
    const next = deletions.findOne({ userId: { $gt: last } }).sort({ userId: 1 });
    const found = await next
      .select({ _id: 0, userId: 1 })
      .acrossAccounts('deletions to prune')
      .lean();
    last = found?.userId;
    if (last !== undefined) yield last;
  }
}

async function prune(
  { database, writeQueue }: Dependencies,
  userId: string,
  { kept, max }: { kept: number; max: number },
  stopping: AbortSignal,
): Promise<void> {
  const deletions = database.model(deletionModel);
  const newest = deletions.findOne().of({ userId }).sort({ revision: -1, _id: -1 });
  const nth = (count: number) =>
    newest
      .clone()
      .skip(count - 1)
      .select('revision')
      .lean();
  if (!(await nth(max + 1))) return;
  const oldestKept = await nth(kept);
  if (!oldestKept) return;
  const { revision } = oldestKept;
  // First, so that no copy misses a deletion, whenever this is interrupted.
  const document = everythingDeleted({ userId, revision });
  await writeQueue.run(userId, ({ session }) => deletions.create([document], { session }));
  const older = deletions.find({ revision: { $lt: revision } }).of({ userId });
  while (!stopping.aborted) {
    const found = await older.clone().select('_id').limit(CHUNK).lean();
    if (found.length === 0) return;
    await deletions.deleteMany({ _id: anyOf(found.map(({ _id }) => _id)) }).of({ userId });
  }
}
