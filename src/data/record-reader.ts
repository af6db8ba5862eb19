import type { ClientSession, Model, mongo } from 'mongoose';

import { anyOf, type StoredId } from '../core/ids';
import { yieldToEventLoop } from '../core/event-loop';
import { acrossAccounts } from './guard';
import type { Tenant, SharedTenant } from './models';
import { WriteBuffer } from './write-buffer';

type Filter<T> = mongo.Filter<T>;

type Projection = Readonly<Record<string, 1>>;

interface FindOptions {
  sort?: Readonly<Record<string, 1 | -1>>;
  limit?: number;
  projection?: Projection;
}

/** Has a search answer some fields of records only. */
export function projectionOf(fields: readonly string[]): Projection {
  return Object.fromEntries(fields.map((field) => [field, 1]));
}

/** Finds the records that have one of some ids. */
export function withIds<T>(ids: readonly StoredId[]): Filter<T> {
  // The filter's type cannot know the `_id` of a type yet to be given.
  return { _id: anyOf(ids) } as Filter<T>;
}

interface BatchOptions extends FindOptions {
  /** How many records are fetched at once; few unless given. */
  batchSize?: number;
  /** The index to use, where MongoDB might choose one that costs more. */
  hint?: Readonly<Record<string, 1 | -1>>;
  /** Whether ids come as bare Buffers, as they do from `find`; they do unless it is false. */
  promoteBuffers?: boolean;
}

/** Records fetched at once: enough for most lists, and few megabytes of the largest records. */
const BATCH = 64;
/** How many of them are decoded together: of the largest records it takes half a millisecond. */
const DECODED = 10;
/** For how long they are decoded until others get their turn. */
const TURN_MS = 0.5;

/**
 * Reads the records of a model, within a tenant: on user data the account's id becomes part of every
 * filter. Reads go through the driver, which costs half of what hydrated documents do; those of a
 * transaction see what it wrote before.
 */
export class RecordReader<T extends object, Whose extends SharedTenant> {
  protected readonly collection: mongo.Collection<T>;
  /** The same, for writes that wait with those of other models. */
  protected readonly untyped: mongo.Collection;

  constructor(model: Model<T>) {
    // Mongoose's collection passes each method on to the driver's; its type is merely looser.
    this.collection = model.collection as unknown as mongo.Collection<T>;
    this.untyped = model.collection;
  }

  /** All that match; ids come as bare Buffers ({@link StoredId}), which saves a third of the CPU. */
  async find(tenant: Whose, filter: Filter<T> = {}, options: FindOptions = {}): Promise<T[]> {
    const found = await this.#open(tenant, filter, options);
    // Documents carry `_id` in their own type; the driver would add it once more.
    return (await found.toArray()) as T[];
  }

  /**
   * As `find`, for lists that may end early: each record is decoded only when it is come to. No more
   * than `limit`, which is to be so low that they make one batch.
   */
  async findLazily(
    tenant: Whose,
    filter: Filter<T>,
    { sort, limit }: Required<Pick<FindOptions, 'sort' | 'limit'>>,
  ): Promise<Iterable<T>> {
    const found = await this.#open(tenant, filter, { sort, limit, batchSize: limit });
    await found.hasNext();
    // As in `find`. What did not come with the first batch, of 16 MB, is not left out.
    return (found.id?.isZero() === false ? await found.toArray() : buffered(found)) as Iterable<T>;
  }

  /** All that match, few at a time: no more than is fetched at once is held, however many there are. */
  async *batches(
    tenant: Whose,
    filter: Filter<T>,
    options: BatchOptions = {},
  ): AsyncGenerator<T[]> {
    const found = await this.#open(tenant, filter, { batchSize: BATCH, ...options });
    try {
      while (await found.hasNext()) yield await decoded<T>(found);
    } finally {
      await found.close();
    }
  }

  async findOne(
    tenant: Whose,
    filter: Filter<T>,
    { sort, projection }: Pick<FindOptions, 'sort' | 'projection'> = {},
  ): Promise<T | undefined> {
    await this.flush(tenant);
    const found = await this.collection.findOne(scoped(tenant, filter), {
      ...sessionOf(tenant),
      ...(sort ? { sort: { ...sort } } : {}),
      ...(projection ? { projection } : {}),
    });
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  async exists(tenant: Whose, filter: Filter<T>): Promise<boolean> {
    return (await this.findOne(tenant, filter, { projection: { _id: 1 } })) !== undefined;
  }

  async count(tenant: Whose, filter: Filter<T> = {}): Promise<number> {
    await this.flush(tenant);
    return this.collection.countDocuments(scoped(tenant, filter), sessionOf(tenant));
  }

  /** What an aggregation over the matching records answers; ids come as bare Buffers. */
  async *aggregate<Result extends object>(
    tenant: Whose,
    filter: Filter<T>,
    stages: readonly object[],
  ): AsyncGenerator<Result> {
    await this.flush(tenant);
    yield* this.collection.aggregate<Result>([{ $match: scoped(tenant, filter) }, ...stages], {
      ...sessionOf(tenant),
      promoteBuffers: true,
      allowDiskUse: true,
      batchSize: 1000,
    });
  }

  /** Reads records of all accounts; `why` stands where a reviewer looks for it. */
  async findAcrossAccounts(why: string, filter: Filter<T> = {}): Promise<T[]> {
    // As in `find`.
    return acrossAccounts(why, () =>
      this.collection.find(filter, { promoteBuffers: true }).toArray(),
    ) as Promise<T[]>;
  }

  /** A cursor over what matches, in batches as MongoDB makes them where no size is given. */
  async #open(
    tenant: Whose,
    filter: Filter<T>,
    { sort = {}, limit = 0, projection, batchSize, hint, promoteBuffers = true }: BatchOptions,
  ): Promise<mongo.FindCursor<mongo.WithId<T>>> {
    await this.flush(tenant);
    return this.collection.find(scoped(tenant, filter), {
      ...sessionOf(tenant),
      promoteBuffers,
      sort: { ...sort },
      limit,
      ...(batchSize === undefined ? {} : { batchSize }),
      ...(projection ? { projection } : {}),
      ...(hint ? { hint: { ...hint } } : {}),
    });
  }

  /** Sends what was to be sent before. */
  protected async flush(tenant: SharedTenant): Promise<void> {
    await WriteBuffer.of(tenant.session)?.flush(this.untyped, ownerOf(tenant));
  }
}

/** The next records that a cursor holds, not more than a batch; others get their turn meanwhile. */
async function decoded<T>(cursor: mongo.FindCursor<mongo.WithId<T>>): Promise<T[]> {
  const records: T[] = [];
  let begun = performance.now();
  while (cursor.bufferedCount() > 0 && records.length < BATCH) {
    if (performance.now() - begun > TURN_MS) {
      await yieldToEventLoop();
      begun = performance.now();
    }
    // As in `find`.
    records.push(...(cursor.readBufferedDocuments(DECODED) as T[]));
  }
  return records;
}

/** The records that a cursor holds, each decoded as it is come to. */
function* buffered<T>(cursor: mongo.FindCursor<T>): Generator<T> {
  while (cursor.bufferedCount() > 0) yield* cursor.readBufferedDocuments(1);
}

/** A filter, within a tenant. */
export function scoped<T>(tenant: SharedTenant, filter: Filter<T>): Filter<T> {
  const userId = ownerOf(tenant);
  return userId === undefined ? filter : { ...filter, userId };
}

/** The account of a tenant, where it is one account's. */
export function ownerOf(tenant: SharedTenant | Tenant): string | undefined {
  return 'userId' in tenant ? tenant.userId : undefined;
}

/** The session of a tenant, as an option of the driver. */
export function sessionOf({ session }: SharedTenant): { session?: ClientSession } {
  return session ? { session } : {};
}
