import type { mongo } from 'mongoose';

import { OperatorError } from '../../core/operator-error';

/** Is there from the first to the last moment of a restore, and at no other time. */
const COLLECTION = 'restoring';

/** A restore that is under way, or that was killed. */
interface RestoreDocument {
  _id: string;
  startedAt: Date;
}

/** Says that a database is being restored, or was half way. */
export class UnfinishedRestoreError extends OperatorError {
  constructor(database: string) {
    super(
      `The database ${database} holds a backup that is being restored, or was restored half way: wait, or run \`backup restore FILE\` again, which starts over.`,
    );
  }
}

/** Whether a database with these collections is being restored, or was half way. */
export function isRestoring(collections: readonly string[]): boolean {
  return collections.includes(COLLECTION);
}

/** The same of a database. */
export async function hasUnfinishedRestore(database: mongo.Db): Promise<boolean> {
  const found = await database.listCollections({ name: COLLECTION }, { nameOnly: true }).toArray();
  return found.length > 0;
}

/** Marks a database as not whole, in the name of the restore with this id, and of no other. */
export async function beginRestore(database: mongo.Db, id: string): Promise<void> {
  const restores = database.collection<RestoreDocument>(COLLECTION);
  await restores.insertOne({ _id: id, startedAt: new Date() }, { writeConcern: { w: 'majority' } });
  await restores.deleteMany({ _id: { $ne: id } });
}

/** Whether no other restore has begun since the one with this id. */
export async function isCurrentRestore(database: mongo.Db, id: string): Promise<boolean> {
  const restores = database.collection<RestoreDocument>(COLLECTION);
  return (await restores.countDocuments({ _id: id })) === 1;
}

/** Marks a database as whole. */
export async function endRestore(database: mongo.Db): Promise<void> {
  await database.collection(COLLECTION).drop({ writeConcern: { w: 'majority' } });
}
