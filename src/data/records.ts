import type { Model, mongo } from 'mongoose';

import type { StoredId } from '../core/ids';
import { LIVE, type SharedScope } from './models';
import type { QuotaCounter } from './quotas';
import { type BufferedWrite, WriteBuffer, sendWrites } from './write-buffer';
import { ownerOf, RecordReader, scoped, sessionOf, withIds } from './record-reader';
import type { Tracking } from './tracking';
import type { Transaction } from './transaction';

type Filter<T> = mongo.Filter<T>;
type Update<T> = mongo.UpdateFilter<T>;

/** An update of the record that a filter finds. */
export interface OneUpdate<T> {
  filter: Filter<T>;
  update: Update<T>;
}

/**
 * The records of a model, read and written within a scope. Inserts of single records are validated by
 * the Mongoose model, which adds nothing to them: they are stored as they are given.
 *
 * In a transaction, inserts and updates whose outcome nobody waits for are sent together with others
 * (see {@link WriteBuffer}). Writes to a tracked model set the revision of its records, and
 * deletions are recorded; only `updateWithoutRevision` and `deleteSome` are of no concern to copies.
 *
 * What is added to a model with a quota, deleted or brought back moves the account's usage; only
 * `deleteSome`, for accounts that go, does not. Nothing is added over the limit.
 */
export class Records<T extends object, Scope extends SharedScope> extends RecordReader<T, Scope> {
  readonly #model: Model<T>;
  readonly #tracking: Tracking | undefined;
  readonly #counter: QuotaCounter | undefined;

  constructor(
    model: Model<T>,
    { tracking, counter }: { tracking?: Tracking | undefined; counter?: QuotaCounter | undefined },
  ) {
    super(model);
    this.#model = model;
    this.#tracking = tracking;
    this.#counter = counter;
  }

  async insert(scope: Scope, record: T): Promise<void> {
    const document = this.#inserted(scope, record);
    await this.#model.validate(document);
    this.#counter?.move(scope, 1);
    await this.#send(scope, [{ write: { insertOne: { document } } }]);
  }

  /** Inserts many records without the model's validation; all have their `_id`. */
  async insertBulk(scope: Scope, records: readonly T[]): Promise<void> {
    this.#counter?.move(scope, records.length);
    await this.#send(
      scope,
      records.map((record) => ({
        write: { insertOne: { document: this.#inserted(scope, record) } },
      })),
    );
  }

  /**
   * Updates records that all have to be there; in a transaction that is known only at its end.
   *
   * @param missing the error where one is not there
   */
  async updateExisting(
    scope: Scope,
    ids: readonly StoredId[],
    update: Update<T>,
    missing: () => Error,
  ): Promise<void> {
    const updateMany = {
      filter: scoped(scope, withIds<T>(ids)),
      update: this.#updated(scope, update),
    };
    await this.#send(scope, [{ write: { updateMany }, required: { count: ids.length, missing } }]);
  }

  /** Answers whether a record matched. */
  async updateOne(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    await this.flush(scope);
    const { matchedCount } = await this.collection.updateOne(
      scoped(scope, filter),
      this.#updated(scope, update),
      sessionOf(scope),
    );
    return matchedCount === 1;
  }

  /** Updates a record, or inserts it when none matches; answers whether it is new. */
  async upsert(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    this.#refuseUpsert();
    await this.flush(scope);
    const { upsertedCount } = await this.collection.updateOne(
      scoped(scope, filter),
      this.#updated(scope, update),
      { ...sessionOf(scope), upsert: true },
    );
    return upsertedCount === 1;
  }

  /** Updates a record, or inserts it with `upsert`; answers it as it is then, or was before. */
  async findOneAndUpdate(
    scope: Scope,
    filter: Filter<T>,
    update: Update<T>,
    options: { upsert?: boolean; returnDocument?: 'before' } = {},
  ): Promise<T | undefined> {
    if (options.upsert) this.#refuseUpsert();
    await this.flush(scope);
    const found = await this.collection.findOneAndUpdate(
      scoped(scope, filter),
      this.#updated(scope, update),
      { ...sessionOf(scope), returnDocument: 'after', ...options },
    );
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  async updateMany(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.flush(scope);
    await this.collection.updateMany(
      scoped(scope, filter),
      this.#updated(scope, update),
      sessionOf(scope),
    );
  }

  /** Updates what nobody is shown, or records that are out of reach: no copy has to follow. */
  async updateWithoutRevision(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.flush(scope);
    refuseDeletion(update);
    await this.collection.updateMany(scoped(scope, filter), update, sessionOf(scope));
  }

  /**
   * Deletes records softly: they stay, with `deletedAt` set.
   *
   * @param options.isShown whether copies have to follow; not where the records are out of reach
   */
  async softDelete(tx: Transaction, filter: Filter<T>, { isShown = true } = {}): Promise<void> {
    await this.#setDeletedAt(tx, { ...filter, ...LIVE }, tx.now, isShown);
  }

  /** Brings softly deleted records back. @throws ApiError where they are over their quota */
  async restore(tx: Transaction, filter: Filter<T>): Promise<void> {
    await this.#setDeletedAt(tx, { ...filter, deletedAt: { $ne: null } }, null);
  }

  /** Answers whether a record matched. */
  async deleteOne(scope: Scope, filter: Filter<T>): Promise<boolean> {
    await this.flush(scope);
    const deleted = await this.collection.findOneAndDelete(scoped(scope, filter), {
      ...sessionOf(scope),
      projection: { _id: 1, deletedAt: 1 },
    });
    if (!deleted) return false;
    const { _id, deletedAt } = deleted as { _id: unknown; deletedAt?: Date | null };
    // Records of tracked models have a UUID.
    await this.#tracking?.deleted(scope, [_id as StoredId]);
    if (this.#counter?.deletedToo || !deletedAt) this.#counter?.move(scope, -1);
    return true;
  }

  async deleteMany(scope: Scope, filter: Filter<T>): Promise<void> {
    await this.flush(scope);
    if (this.#tracking) {
      const found = await this.find(scope, filter, { projection: { _id: 1 } });
      // As in `deleteOne`.
      await this.#tracking.deleted(
        scope,
        (found as { _id: StoredId }[]).map(({ _id }) => _id),
      );
    }
    if (this.#counter) {
      const counted = this.#counter.deletedToo ? filter : { ...filter, ...LIVE };
      this.#counter.move(scope, -(await this.count(scope, counted)));
    }
    await this.collection.deleteMany(scoped(scope, filter), sessionOf(scope));
  }

  /** Deletes some of all records, at most so many; answers how many. */
  async deleteSome(scope: Scope, limit: number): Promise<number> {
    await this.flush(scope);
    const found = this.collection.find(scoped(scope, {}), {
      ...sessionOf(scope),
      projection: { _id: 1 },
      limit,
    });
    const ids = (await found.toArray()).map(({ _id }) => _id);
    // The filter's type cannot know the `_id` of a type yet to be given.
    const some = { _id: { $in: ids } } as Filter<T>;
    const { deletedCount } = await this.collection.deleteMany(
      scoped(scope, some),
      sessionOf(scope),
    );
    return deletedCount;
  }

  /** Applies many upserts. */
  async upsertMany(scope: Scope, upserts: readonly OneUpdate<T>[]): Promise<void> {
    this.#refuseUpsert();
    await this.#updateEach(scope, upserts, { upsert: true });
  }

  /** Applies many updates, of a record each. */
  async updateEach(scope: Scope, updates: readonly OneUpdate<T>[]): Promise<void> {
    await this.#updateEach(scope, updates, { upsert: false });
  }

  async #updateEach(
    scope: Scope,
    updates: readonly OneUpdate<T>[],
    { upsert }: { upsert: boolean },
  ): Promise<void> {
    await this.#send(
      scope,
      updates.map(({ filter, update }) => ({
        write: {
          updateOne: {
            filter: scoped(scope, filter),
            update: this.#updated(scope, update),
            upsert,
          },
        },
      })),
    );
  }

  /** Has those who keep a copy begin anew, where more came into reach than was written. */
  async restartCopies(scope: Scope): Promise<void> {
    await this.#tracking?.restarted(scope);
  }

  async #setDeletedAt(
    tx: Transaction,
    filter: object,
    deletedAt: Date | null,
    isShown = true,
  ): Promise<void> {
    await this.flush(tx);
    const plain = { $set: { deletedAt } };
    const update = isShown ? (this.#tracking?.updated(tx, plain) ?? plain) : plain;
    // Softly deleted records have this field, which the types of others lack.
    const { modifiedCount } = await this.untyped.updateMany(
      scoped(tx, filter),
      update,
      sessionOf(tx),
    );
    if (this.#counter?.deletedToo) return;
    this.#counter?.move(tx, deletedAt === null ? modifiedCount : -modifiedCount);
  }

  #refuseUpsert(): void {
    if (this.#counter) throw new Error('What counts against a quota is inserted, not upserted.');
  }

  #inserted(scope: Scope, record: T): T {
    return this.#tracking?.inserted(scope, record) ?? record;
  }

  #updated(scope: Scope, update: Update<T>): Update<T> {
    refuseDeletion(update);
    if (!this.#tracking) return update;
    // Documents of a tracked model have a `revision`, of which their own type need not know.
    return this.#tracking.updated(scope, update);
  }

  async #send(scope: SharedScope, writes: readonly BufferedWrite[]): Promise<void> {
    const buffer = WriteBuffer.of(scope.session);
    if (buffer) buffer.add(this.untyped, ownerOf(scope), writes);
    else await sendWrites(this.untyped, writes, scope.session);
  }
}

/** Records that are deleted by an update would be counted as if they were there. */
function refuseDeletion({ $set }: { readonly $set?: object | undefined }): void {
  if ($set && 'deletedAt' in $set) throw new Error('deletedAt is set by softDelete and restore.');
}
