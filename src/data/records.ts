import type { Model, mongo } from 'mongoose';

import type { StoredId } from '../core/ids';
import type { SharedScope } from './models';
import { type BufferedWrite, WriteBuffer, sendWrites } from './write-buffer';
import { ownerOf, RecordReader, scoped, sessionOf, withIds } from './record-reader';
import type { Tracking } from './tracking';

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
 */
export class Records<T extends object, Scope extends SharedScope> extends RecordReader<T, Scope> {
  readonly #model: Model<T>;
  readonly #tracking: Tracking | undefined;

  constructor(model: Model<T>, tracking?: Tracking) {
    super(model);
    this.#model = model;
    this.#tracking = tracking;
  }

  async insert(scope: Scope, record: T): Promise<void> {
    const document = this.#inserted(scope, record);
    await this.#model.validate(document);
    await this.#send(scope, [{ write: { insertOne: { document } } }]);
  }

  /** Inserts many records without the model's validation; all have their `_id`. */
  async insertBulk(scope: Scope, records: readonly T[]): Promise<void> {
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
    await this.updateWithoutRevision(scope, filter, this.#updated(scope, update));
  }

  /** Updates what nobody is shown, or records that are out of reach: no copy has to follow. */
  async updateWithoutRevision(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.flush(scope);
    await this.collection.updateMany(scoped(scope, filter), update, sessionOf(scope));
  }

  /** Answers whether a record matched. */
  async deleteOne(scope: Scope, filter: Filter<T>): Promise<boolean> {
    await this.flush(scope);
    const deleted = await this.collection.findOneAndDelete(scoped(scope, filter), {
      ...sessionOf(scope),
      projection: { _id: 1 },
    });
    const id: unknown = deleted?._id;
    // Records of tracked models have a UUID.
    if (deleted) await this.#tracking?.deleted(scope, [id as StoredId]);
    return deleted !== null;
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

  #inserted(scope: Scope, record: T): T {
    return this.#tracking?.inserted(scope, record) ?? record;
  }

  #updated(scope: Scope, update: Update<T>): Update<T> {
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
