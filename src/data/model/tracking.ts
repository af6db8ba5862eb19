import type { Connection, Schema } from 'mongoose';

import { newId, type StoredId } from '../../core/ids';
import type { Transaction } from '../writing/transaction';
import { type AnyQuery, targetOf, transactionOf, updateIn } from '../writing/write-buffer';

/** The kind of what stands for all of an account: whoever keeps a copy begins anew. */
export const EVERYTHING = 'everything';
/** The name of the model of deletions. */
export const DELETION = 'Deletion';

/** A record of a tracked model that was deleted for good. */
export interface DeletionDocument {
  _id: StoredId;
  userId: string;
  kind: string;
  id: StoredId;
  revision: number;
  deletedAt: Date;
}

/** By which write. */
type Write = Pick<DeletionDocument, 'userId' | 'revision'>;

/** The record that stands for all of an account. */
export function everythingDeleted(write: Write): DeletionDocument {
  return newDeletion(write, EVERYTHING, newId());
}

function newDeletion({ userId, revision }: Write, kind: string, id: StoredId): DeletionDocument {
  return { _id: newId(), userId, kind, id, revision, deletedAt: new Date() };
}

type Found = Pick<DeletionDocument, '_id'>;

/** Has those who keep a copy begin anew, where more came into reach than was written. */
export async function resetSyncClients(tx: Transaction, connection: Connection): Promise<void> {
  await insertDeletions(tx, connection, [everythingDeleted(tx)]);
}

/**
 * Tracks the changes of a model's records: each write sets the account's revision in the records that
 * it changes, and deletions are kept. A query with the option `tracked: false` is of no concern to
 * copies.
 *
 * @param options.kind what a deletion calls such a record
 * @param options.softlyDeleted whether deleted records stay, with `deletedAt` set: they are listed apart
 */
export function tracked(
  schema: Schema,
  { kind, softlyDeleted }: { kind: string; softlyDeleted: boolean },
): void {
  const order = { userId: 1, revision: 1, _id: 1 } as const;
  schema.add({ revision: { type: Number, required: true } });
  if (softlyDeleted) {
    schema.index(order, { partialFilterExpression: { deletedAt: null } });
    // Read backwards it is the same order; two indexes on the same keys not every MongoDB takes.
    const backwards = { userId: 1, revision: -1, _id: -1 } as const;
    schema.index(backwards, { partialFilterExpression: { deletedAt: { $type: 'date' } } });
  } else {
    schema.index(order);
  }
  schema.pre(UPDATES, function revise(this: AnyQuery) {
    if (this.getOptions()['tracked'] !== false) this.set({ revision: txOf(this).revision });
  });
  schema.pre('bulkWrite', (writes, options) => {
    for (const write of writes) {
      const { revision } = transactionOf(options?.session, targetOf(write)['userId']);
      if ('insertOne' in write) {
        write.insertOne.document = { ...write.insertOne.document, revision };
      } else {
        const body = updateIn(write) ?? refuse();
        // No update here is a pipeline.
        const { $set, ...rest } = body.update as { $set?: object };
        body.update = { ...rest, $set: { ...$set, revision } };
      }
    }
  });
  schema.post('findOneAndDelete', async function keep(this: AnyQuery, found) {
    // What is deleted is a record of the model.
    if (found) await keepDeletions(this, kind, [found as Found]);
  });
  schema.pre('deleteMany', async function keep(this: AnyQuery) {
    if (this.getOptions()['tracked'] === false) return;
    const found = this.model.find().where(this.getFilter()).select({ _id: 1 });
    await keepDeletions(this, kind, await found.session(txOf(this).session).lean<Found[]>());
  });
  refuseOthers(schema);
}

/** The queries that update. */
export const UPDATES = [...(['findOneAndUpdate', 'updateMany', 'updateOne'] as const)];

/** Refuses the ways to write of which hooks learn too little. */
export function refuseOthers(schema: Schema): void {
  schema.pre(['deleteOne', 'findOneAndReplace', 'replaceOne'], refuse);
  schema.pre('insertMany', refuse);
  schema.pre('save', refuse);
}

export function refuse(): never {
  throw new Error(
    'Records that are tracked or counted are inserted by bulkWrite, and deleted by findOneAndDelete or deleteMany.',
  );
}

/** The transaction that a query is part of. */
export function txOf(query: AnyQuery): Transaction {
  return transactionOf(query.getOptions().session, query.getFilter()['userId']);
}

/** Keeps that records were deleted, which of a tracked model all have a UUID. */
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
