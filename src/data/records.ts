import type { ClientSession, Model, mongo } from 'mongoose';

import { anyOf, type StoredId } from '../core/ids';
import { acrossAccounts } from './guard';
import type { SharedScope } from './models';
import { type PendingWrite, PendingWrites, sendWrites } from './pending-writes';
import type { Tracking } from './tracking';

type Filter<T> = mongo.Filter<T>;
type Update<T> = mongo.UpdateFilter<T>;

interface FindOptions {
  sort?: Readonly<Record<string, 1 | -1>>;
  limit?: number;
  projection?: Readonly<Record<string, 1>>;
}

interface BatchOptions extends FindOptions {
  /** How many records are held at once; few unless given. */
  batchSize?: number;
  /** The index to use, where MongoDB might choose one that costs more. */
  hint?: Readonly<Record<string, 1 | -1>>;
  /** Whether ids come as bare Buffers, as they do from `find`; they do unless it is false. */
  promoteBuffers?: boolean;
}

/** An update of the record that a filter finds. */
export interface OneUpdate<T> {
  filter: Filter<T>;
  update: Update<T>;
}

/** Records of a batch: enough for most lists, and few megabytes of the largest records. */
const BATCH = 50;

/**
 * The records of a model, within a scope: on user data the account's id becomes part of every
 * filter. Reads go through the driver, which costs half of what hydrated documents do; inserts of
 * single records are validated by the Mongoose model.
 *
 * In a transaction, inserts and updates whose outcome nobody waits for are sent together with others
 * (see {@link PendingWrites}). Writes to a tracked model set the revision of its records, and
 * deletions are recorded; only `updateUnseen` and `deleteSome` are of no concern to copies.
 */
export class Records<T extends object, Scope extends SharedScope> {
  readonly #collection: mongo.Collection<T>;
  /** The same, for writes that wait with those of other models. */
  readonly #untyped: mongo.Collection;
  readonly #model: Model<T>;
  readonly #tracking: Tracking | undefined;

  constructor(model: Model<T>, tracking?: Tracking) {
    this.#model = model;
    this.#tracking = tracking;
    // Mongoose's collection passes each method on to the driver's; its type is merely looser.
    this.#collection = model.collection as unknown as mongo.Collection<T>;
    this.#untyped = model.collection;
  }

  /** All that match; ids come as bare Buffers ({@link StoredId}), which saves a third of the CPU. */
  async find(
    scope: Scope,
    filter: Filter<T> = {},
    { sort = {}, limit = 0, projection }: FindOptions = {},
  ): Promise<T[]> {
    await this.#flush(scope);
    const found = await this.#collection
      .find(scoped(scope, filter), {
        ...sessionOf(scope),
        promoteBuffers: true,
        ...(projection ? { projection } : {}),
      })
      .sort({ ...sort })
      .limit(limit)
      .toArray();
    // Documents carry `_id` in their own type; the driver would add it once more.
    return found as T[];
  }

  /** All that match, a batch at a time: no more than that is held, however many there are. */
  async *batches(
    scope: Scope,
    filter: Filter<T>,
    {
      sort = {},
      limit = 0,
      projection,
      batchSize = BATCH,
      hint,
      promoteBuffers = true,
    }: BatchOptions = {},
  ): AsyncGenerator<T[]> {
    await this.#flush(scope);
    const found = this.#collection
      .find(scoped(scope, filter), {
        ...sessionOf(scope),
        promoteBuffers,
        ...(projection ? { projection } : {}),
        ...(hint ? { hint: { ...hint } } : {}),
      })
      .sort({ ...sort })
      .limit(limit)
      .batchSize(batchSize);
    try {
      // As in `find`.
      while (await found.hasNext()) yield found.readBufferedDocuments() as T[];
    } finally {
      await found.close();
    }
  }

  async findOne(
    scope: Scope,
    filter: Filter<T>,
    { sort, projection }: Pick<FindOptions, 'sort' | 'projection'> = {},
  ): Promise<T | undefined> {
    await this.#flush(scope);
    const found = await this.#collection.findOne(scoped(scope, filter), {
      ...sessionOf(scope),
      ...(sort ? { sort: { ...sort } } : {}),
      ...(projection ? { projection } : {}),
    });
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  async exists(scope: Scope, filter: Filter<T>): Promise<boolean> {
    return (await this.findOne(scope, filter, { projection: { _id: 1 } })) !== undefined;
  }

  async count(scope: Scope, filter: Filter<T> = {}): Promise<number> {
    await this.#flush(scope);
    return this.#collection.countDocuments(scoped(scope, filter), sessionOf(scope));
  }

  /** The distinct values of a field. */
  async distinct(scope: Scope, field: string): Promise<unknown[]> {
    await this.#flush(scope);
    return this.#collection.distinct(field, scoped(scope, {}), sessionOf(scope));
  }

  /** What an aggregation over the matching records answers; ids come as bare Buffers. */
  async *aggregate<Result extends object>(
    scope: Scope,
    filter: Filter<T>,
    stages: readonly object[],
  ): AsyncGenerator<Result> {
    await this.#flush(scope);
    yield* this.#collection.aggregate<Result>([{ $match: scoped(scope, filter) }, ...stages], {
      ...sessionOf(scope),
      promoteBuffers: true,
      allowDiskUse: true,
      batchSize: 1000,
    });
  }

  async insert(scope: Scope, record: T): Promise<void> {
    const document = new this.#model(this.#inserted(scope, record));
    await document.validate();
    await this.#send(scope, [{ write: { insertOne: { document: document.toBSON() } } }]);
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
    // The filter's type cannot know the `_id` of a type yet to be given.
    const filter = { _id: anyOf(ids) } as Filter<T>;
    const updateMany = {
      filter: scoped(scope, filter),
      update: this.#updated(scope, update),
    };
    await this.#send(scope, [{ write: { updateMany }, required: { count: ids.length, missing } }]);
  }

  /** Answers whether a record matched. */
  async updateOne(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    await this.#flush(scope);
    const { matchedCount } = await this.#collection.updateOne(
      scoped(scope, filter),
      this.#updated(scope, update),
      sessionOf(scope),
    );
    return matchedCount === 1;
  }

  /** Updates a record, or inserts it when none matches; answers whether it is new. */
  async upsert(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    await this.#flush(scope);
    const { upsertedCount } = await this.#collection.updateOne(
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
    options: { upsert?: boolean; returnDocument?: 'after' | 'before' } = {},
  ): Promise<T | undefined> {
    await this.#flush(scope);
    const found = await this.#collection.findOneAndUpdate(
      scoped(scope, filter),
      this.#updated(scope, update),
      { ...sessionOf(scope), returnDocument: 'after', ...options },
    );
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  async updateMany(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.updateUnseen(scope, filter, this.#updated(scope, update));
  }

  /** Updates what nobody is shown, or records that are out of reach: no copy has to follow. */
  async updateUnseen(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.#flush(scope);
    await this.#collection.updateMany(scoped(scope, filter), update, sessionOf(scope));
  }

  /** Answers whether a record matched. */
  async deleteOne(scope: Scope, filter: Filter<T>): Promise<boolean> {
    await this.#flush(scope);
    const deleted = await this.#collection.findOneAndDelete(scoped(scope, filter), {
      ...sessionOf(scope),
      projection: { _id: 1 },
    });
    const id: unknown = deleted?._id;
    // Records of tracked models have a UUID.
    if (deleted) await this.#tracking?.deleted(scope, [id as StoredId]);
    return deleted !== null;
  }

  async deleteMany(scope: Scope, filter: Filter<T>): Promise<void> {
    await this.#flush(scope);
    if (this.#tracking) {
      const found = await this.find(scope, filter, { projection: { _id: 1 } });
      // As in `deleteOne`.
      await this.#tracking.deleted(
        scope,
        (found as { _id: StoredId }[]).map(({ _id }) => _id),
      );
    }
    await this.#collection.deleteMany(scoped(scope, filter), sessionOf(scope));
  }

  /** Deletes some of all records, at most so many; answers how many. */
  async deleteSome(scope: Scope, limit: number): Promise<number> {
    const found = this.#collection.find(scoped(scope, {}), {
      ...sessionOf(scope),
      projection: { _id: 1 },
      limit,
    });
    const ids = (await found.toArray()).map(({ _id }) => _id);
    // The filter's type cannot know the `_id` of a type yet to be given.
    const some = { _id: { $in: ids } } as Filter<T>;
    const { deletedCount } = await this.#collection.deleteMany(
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

  /** Reads records of all accounts; `why` stands where a reviewer looks for it. */
  async findAcrossAccounts(why: string, filter: Filter<T> = {}): Promise<T[]> {
    // As in `find`.
    return acrossAccounts(why, () => this.#collection.find(filter).toArray()) as Promise<T[]>;
  }

  #inserted(scope: Scope, record: T): T {
    return this.#tracking?.inserted(scope, record) ?? record;
  }

  #updated(scope: Scope, update: Update<T>): Update<T> {
    if (!this.#tracking) return update;
    // Documents of a tracked model have a `revision`, of which their own type need not know.
    return this.#tracking.updated(scope, update);
  }

  /** Sends what was to be sent before. */
  async #flush({ session }: SharedScope): Promise<void> {
    await PendingWrites.of(session)?.flush(this.#untyped);
  }

  async #send({ session }: SharedScope, writes: readonly PendingWrite[]): Promise<void> {
    const pending = PendingWrites.of(session);
    if (pending) pending.add(this.#untyped, writes);
    else await sendWrites(this.#untyped, writes, session);
  }
}

function scoped<T>(scope: SharedScope, filter: Filter<T>): Filter<T> {
  return 'userId' in scope ? { ...filter, userId: scope.userId } : filter;
}

function sessionOf({ session }: SharedScope): { session?: ClientSession } {
  return session ? { session } : {};
}
