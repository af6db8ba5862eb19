import type { Connection, Schema } from 'mongoose';

import { anyOf, newId, type StoredId } from '../../core/ids';
import type { Transaction } from '../writing/transaction';
import {
  type AnyQuery,
  type BulkWriteOptions,
  refuse,
  refuseOthers,
  ownerIn,
  transactionIn,
  txOf,
  UPDATES,
  updateIn,
} from '../writing/write-buffer';

/** The kind of a deletion that stands for all records of an account: clients start their copy again. */
export const EVERYTHING = 'everything';
/** The name of the model of deletions. */
export const DELETION = 'Deletion';

/** The deletion of a record of a tracked model. */
export interface DeletionDocument {
  _id: StoredId;
  userId: string;
  kind: string;
  id: StoredId;
  revision: number;
  deletedAt: Date;
}

type Write = Pick<DeletionDocument, 'userId' | 'revision'>;

/** The deletion that stands for all records of an account. */
export function everythingDeleted(write: Write): DeletionDocument {
  return newDeletion(write, EVERYTHING, newId());
}

function newDeletion({ userId, revision }: Write, kind: string, id: StoredId): DeletionDocument {
  return { _id: newId(), userId, kind, id, revision, deletedAt: new Date() };
}

type Found = Pick<DeletionDocument, '_id'>;

/** Makes clients start their copies again: changes that no write tracked would be missing in them. */
export async function resetSyncClients(tx: Transaction, connection: Connection): Promise<void> {
  await insertDeletions(tx, connection, [everythingDeleted(tx)]);
}

/** Forgets deletions of records that are inserted again under the same ids, which a copy would delete. */
export async function forgetDeletions(
  { userId, session }: Transaction,
  connection: Connection,
  kind: string,
  ids: readonly StoredId[],
): Promise<void> {
  const filter = { userId, kind, id: anyOf(ids) };
  await connection.model<DeletionDocument>(DELETION).deleteMany(filter, { session });
}

/**
 * Schema plugin that tracks changes: each write stores the revision of the account in the records that
 * it changes, and deletions are kept. Queries with the option `tracked: false` are not tracked.
 *
 * @param options.kind the kind of the records in deletions
 * @param options.softlyDeleted whether deleted records stay, with `deletedAt` set
 */
export function tracked(
  schema: Schema,
  { kind, softlyDeleted }: { kind: string; softlyDeleted: boolean },
): void {
  const order = { userId: 1, revision: 1, _id: 1 } as const;
  schema.add({ revision: { type: Number, required: true } });
  if (softlyDeleted) {
    schema.index(order, { partialFilterExpression: { deletedAt: null } });
    // The same order backwards: not every MongoDB allows two indexes on the same keys.
    const backwards = { userId: 1, revision: -1, _id: -1 } as const;
    schema.index(backwards, { partialFilterExpression: { deletedAt: { $type: 'date' } } });
  } else {
    schema.index(order);
  }
  schema.pre(UPDATES, function revise(this: AnyQuery) {
    if (this.getOptions()['tracked'] !== false) this.set({ revision: txOf(this).revision });
  });
  schema.pre('bulkWrite', (writes, options: BulkWriteOptions = {}) => {
    if (options.tracked === false) return;
    for (const write of writes) {
      const { revision } = transactionIn(options.session, ownerIn(write));
      if ('insertOne' in write) {
        write.insertOne.document = { ...write.insertOne.document, revision };
      } else {
        const body = updateIn(write) ?? refuse();
        // Pipelines are not used.
        const { $set, ...rest } = body.update as { $set?: object };
        body.update = { ...rest, $set: { ...$set, revision } };
      }
    }
  });
  schema.post('findOneAndDelete', async function keep(this: AnyQuery, found) {
    if (found) await keepDeletions(this, kind, [found as Found]);
  });
  schema.pre('deleteMany', async function keep(this: AnyQuery) {
    if (this.getOptions()['tracked'] === false) return;
    const found = this.model.find().where(this.getFilter()).select({ _id: 1 });
    await keepDeletions(this, kind, await found.session(txOf(this).session).lean<Found[]>());
  });
  refuseOthers(schema);
}

async function keepDeletions(
  query: AnyQuery,
  kind: string,
  found: readonly Found[],
): Promise<void> {
  const tx = txOf(query);
  const deletions = found.map(({ _id }) => newDeletion(tx, kind, _id));
  await insertDeletions(tx, query.model.db, deletions);
}

async function insertDeletions(
  { session }: Transaction,
  connection: Connection,
  deletions: readonly DeletionDocument[],
): Promise<void> {
  const writes = deletions.map((document) => ({ insertOne: { document } }));
  await connection.model(DELETION).bulkWrite(writes, { session });
}
