import type { mongo } from 'mongoose';

import { OperatorError } from '../../core/errors';

/** Exists during a restore. */
const COLLECTION = 'restoring';

/** A restore that is in progress, or was interrupted. */
interface RestoreDocument {
  _id: string;
  startedAt: Date;
}

/** Whether a database with these collections is being restored, or a restore was interrupted. */
export function isRestoring(collections: readonly string[]): boolean {
  return collections.includes(COLLECTION);
}

/** Whether a database is being restored, or a restore was interrupted. */
export async function hasUnfinishedRestore(database: mongo.Db): Promise<boolean> {
  const found = await database.listCollections({ name: COLLECTION }, { nameOnly: true }).toArray();
  return found.length > 0;
}

/** @throws OperatorError if a restore of the database is in progress, or was interrupted */
export async function requireNoRestore(database: mongo.Db): Promise<void> {
  if (!(await hasUnfinishedRestore(database))) return;
  throw new OperatorError(
    `A restore of the database ${database.databaseName} is in progress, or was interrupted: wait, or run \`backup restore FILE\` again, which starts over.`,
  );
}

export async function beginRestore(database: mongo.Db, id: string): Promise<void> {
  const restores = database.collection<RestoreDocument>(COLLECTION);
  await restores.insertOne({ _id: id, startedAt: new Date() }, { writeConcern: { w: 'majority' } });
  await restores.deleteMany({ _id: { $ne: id } });
}

/** Whether no other restore started after the one with this id. */
export async function isCurrentRestore(database: mongo.Db, id: string): Promise<boolean> {
  const restores = database.collection<RestoreDocument>(COLLECTION);
  return (await restores.countDocuments({ _id: id })) === 1;
}

export async function endRestore(database: mongo.Db): Promise<void> {
  await database.collection(COLLECTION).drop({ writeConcern: { w: 'majority' } });
}
