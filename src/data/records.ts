import type { ClientSession, Model, mongo } from 'mongoose';

import { acrossAccounts } from './guard';
import type { SharedScope } from './models';

type Filter<T> = mongo.Filter<T>;
type Update<T> = mongo.UpdateFilter<T>;

interface FindOptions {
  sort?: Readonly<Record<string, 1 | -1>>;
  limit?: number;
  projection?: Readonly<Record<string, 1>>;
  /** How many records of `batches` are held at once; few unless given. */
  batchSize?: number;
  /** The index to use, where MongoDB might choose one that costs more. */
  hint?: Readonly<Record<string, 1 | -1>>;
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
 */
export class Records<T extends object, Scope extends SharedScope> {
  readonly #collection: mongo.Collection<T>;
  readonly #model: Model<T>;

  constructor(model: Model<T>) {
    this.#model = model;
    // Mongoose's collection passes each method on to the driver's; its type is merely looser.
    this.#collection = model.collection as unknown as mongo.Collection<T>;
  }

  /** All that match; ids come as bare Buffers ({@link StoredId}), which saves a third of the CPU. */
  async find(
    scope: Scope,
    filter: Filter<T> = {},
    { sort = {}, limit = 0, projection, hint }: FindOptions = {},
  ): Promise<T[]> {
    const found = await this.#collection
      .find(scoped(scope, filter), {
        ...sessionOf(scope),
        promoteBuffers: true,
        ...(projection ? { projection } : {}),
        ...(hint ? { hint: { ...hint } } : {}),
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
    { sort = {}, limit = 0, projection, batchSize = BATCH, hint }: FindOptions = {},
  ): AsyncGenerator<T[]> {
    const found = this.#collection
      .find(scoped(scope, filter), {
        ...sessionOf(scope),
        promoteBuffers: true,
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

  count(scope: Scope, filter: Filter<T> = {}): Promise<number> {
    return this.#collection.countDocuments(scoped(scope, filter), sessionOf(scope));
  }

  /** The distinct values of a field. */
  distinct(scope: Scope, field: string): Promise<unknown[]> {
    return this.#collection.distinct(field, scoped(scope, {}), sessionOf(scope));
  }

  /** What an aggregation over the matching records answers; ids come as bare Buffers. */
  aggregate<Result extends object>(
    scope: Scope,
    filter: Filter<T>,
    stages: readonly object[],
  ): AsyncIterable<Result> {
    return this.#collection.aggregate<Result>([{ $match: scoped(scope, filter) }, ...stages], {
      ...sessionOf(scope),
      promoteBuffers: true,
      allowDiskUse: true,
      batchSize: 1000,
    });
  }

  async insert(scope: Scope, record: T): Promise<void> {
    await new this.#model(record).save(sessionOf(scope));
  }

  /** Inserts many records, in any order, without the model's validation. */
  async insertBulk(scope: Scope, records: readonly T[]): Promise<void> {
    // The driver would make an `_id` for a record without one; all have theirs.
    const documents = records as mongo.OptionalUnlessRequiredId<T>[];
    await this.#collection.insertMany(documents, { ...sessionOf(scope), ordered: false });
  }

  /** Answers whether a record matched. */
  async updateOne(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    const { matchedCount } = await this.#collection.updateOne(
      scoped(scope, filter),
      update,
      sessionOf(scope),
    );
    return matchedCount === 1;
  }

  /** Updates a record, or inserts it when none matches; answers whether it is new. */
  async upsert(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    const { upsertedCount } = await this.#collection.updateOne(scoped(scope, filter), update, {
      ...sessionOf(scope),
      upsert: true,
    });
    return upsertedCount === 1;
  }

  /** Updates a record, or inserts it with `upsert`; answers it as it is then, or was before. */
  async findOneAndUpdate(
    scope: Scope,
    filter: Filter<T>,
    update: Update<T>,
    options: { upsert?: boolean; returnDocument?: 'after' | 'before' } = {},
  ): Promise<T | undefined> {
    const found = await this.#collection.findOneAndUpdate(scoped(scope, filter), update, {
      ...sessionOf(scope),
      returnDocument: 'after',
      ...options,
    });
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  /** Answers how many records matched. */
  async updateMany(scope: Scope, filter: Filter<T>, update: Update<T>): Promise<number> {
    const { matchedCount } = await this.#collection.updateMany(
      scoped(scope, filter),
      update,
      sessionOf(scope),
    );
    return matchedCount;
  }

  /** Answers whether a record matched. */
  async deleteOne(scope: Scope, filter: Filter<T>): Promise<boolean> {
    const { deletedCount } = await this.#collection.deleteOne(
      scoped(scope, filter),
      sessionOf(scope),
    );
    return deletedCount === 1;
  }

  async deleteMany(scope: Scope, filter: Filter<T>): Promise<void> {
    await this.#collection.deleteMany(scoped(scope, filter), sessionOf(scope));
  }

  /** Applies many upserts in one command. */
  async upsertMany(scope: Scope, upserts: readonly OneUpdate<T>[]): Promise<void> {
    await this.#updateEach(scope, upserts, { upsert: true });
  }

  /** Applies many updates, of a record each, in one command. */
  async updateEach(scope: Scope, updates: readonly OneUpdate<T>[]): Promise<void> {
    await this.#updateEach(scope, updates, { upsert: false });
  }

  async #updateEach(
    scope: Scope,
    updates: readonly OneUpdate<T>[],
    { upsert }: { upsert: boolean },
  ): Promise<void> {
    if (updates.length === 0) return;
    await this.#collection.bulkWrite(
      updates.map(({ filter, update }) => ({
        updateOne: { filter: scoped(scope, filter), update, upsert },
      })),
      sessionOf(scope),
    );
  }

  /** Reads records of all accounts; `why` stands where a reviewer looks for it. */
  async findAcrossAccounts(why: string, filter: Filter<T> = {}): Promise<T[]> {
    // As in `find`.
    return acrossAccounts(why, () => this.#collection.find(filter).toArray()) as Promise<T[]>;
  }
}

function scoped<T>(scope: SharedScope, filter: Filter<T>): Filter<T> {
  return 'userId' in scope ? { ...filter, userId: scope.userId } : filter;
}

function sessionOf({ session }: SharedScope): { session?: ClientSession } {
  return session ? { session } : {};
}
