import type { ClientSession, mongo, Query } from 'mongoose';

import { anyOf, type StoredId } from '../core/ids';
import { batchesOf } from './batches';
import type { OwnedModel } from './owner';
import type { SharedTenant, Tenant } from './tenant';
import { resetSyncClients } from './tracking';
import type { Transaction } from './transaction';

type Filter<T> = mongo.Filter<T>;
type Update<T> = mongo.UpdateFilter<T>;

/** What queries on the records of an owner take. */
export type TenantOf<Owner> = Owner extends 'account' ? Tenant : SharedTenant;

type Projection = Readonly<Record<string, 1>>;
type Order = Readonly<Record<string, 1 | -1>>;

interface FindOptions {
  sort?: Order;
  limit?: number;
  projection?: Projection;
}

interface BatchOptions extends FindOptions {
  batchSize?: number;
  hint?: Order;
  promoteBuffers?: boolean;
}

/** Has a search answer some fields of records only. */
export function projectionOf(fields: readonly string[]): Projection {
  return Object.fromEntries(fields.map((field) => [field, 1]));
}

/** Finds the records that have one of some ids. */
export function withIds<T>(ids: readonly StoredId[]): Filter<T> {
  return { _id: anyOf(ids) } as Filter<T>;
}

/** The records of a model by methods of earlier versions: a plugin asks for its Mongoose model instead. */
export class Records<T extends object, Whose extends SharedTenant> {
  /** What replaces this. */
  readonly model: OwnedModel<T>;
  readonly #isOwned: boolean;

  constructor(model: unknown, isOwned: boolean) {
    this.model = model as OwnedModel<T>;
    this.#isOwned = isOwned;
  }

  async find(tenant: Whose, filter: Filter<T> = {}, options: FindOptions = {}): Promise<T[]> {
    return (await this.#found(tenant, filter, options)) as T[];
  }

  async findLazily(tenant: Whose, filter: Filter<T>, options: FindOptions): Promise<Iterable<T>> {
    return this.find(tenant, filter, options);
  }

  batches(tenant: Whose, filter: Filter<T>, options: BatchOptions = {}): AsyncGenerator<T[]> {
    return batchesOf(this.#found(tenant, filter, options) as never, options.batchSize);
  }

  async findOne(
    tenant: Whose,
    filter: Filter<T>,
    { sort, projection }: Pick<FindOptions, 'sort' | 'projection'> = {},
  ): Promise<T | undefined> {
    const query = this.model.findOne(filter as never, projection, sort ? { sort } : {});
    return ((await this.#of(query, tenant).lean()) ?? undefined) as T | undefined;
  }

  async exists(tenant: Whose, filter: Filter<T>): Promise<boolean> {
    return (await this.#of(this.model.exists(filter as never), tenant)) !== null;
  }

  async count(tenant: Whose, filter: Filter<T> = {}): Promise<number> {
    return this.#of(this.model.countDocuments(filter as never), tenant);
  }

  async *aggregate<Result extends object>(
    tenant: Whose,
    filter: Filter<T>,
    stages: readonly object[],
  ): AsyncGenerator<Result> {
    const scope = this.#isOwned && 'userId' in tenant ? { userId: tenant.userId } : {};
    yield* this.model
      .aggregate<Result>([{ $match: { ...filter, ...scope } }, ...stages] as never)
      .session(tenant.session ?? null)
      .cursor<Result>({ batchSize: 1000 });
  }

  async findAcrossAccounts(why: string, filter: Filter<T> = {}): Promise<T[]> {
    return (await this.model.find(filter as never).acrossAccounts(why).lean()) as T[];
  }

  async insert(tenant: Whose, document: T): Promise<void> {
    await this.#bulkWrite(tenant, [{ insertOne: { document } }]);
  }

  async insertBulk(tenant: Whose, records: readonly T[]): Promise<void> {
    const writes = records.map((document) => ({ insertOne: { document } }));
    await this.#bulkWrite(tenant, writes);
  }

  async updateExisting(
    tenant: Whose,
    ids: readonly StoredId[],
    update: Update<T>,
    missing: () => Error,
  ): Promise<void> {
    const updateMany = { filter: this.#scoped(tenant, withIds(ids)), update };
    await this.#bulkWrite(tenant, [{ updateMany }], { required: { count: ids.length, missing } });
  }

  async updateOne(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    const query = this.model.updateOne(filter as never, update as never);
    return (await this.#of(query, tenant)).matchedCount === 1;
  }

  async upsert(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    const query = this.model.updateOne(filter as never, update as never, { upsert: true });
    return (await this.#of(query, tenant)).upsertedCount === 1;
  }

  async findOneAndUpdate(
    tenant: Whose,
    filter: Filter<T>,
    update: Update<T>,
    options: { upsert?: boolean; returnDocument?: 'before' } = {},
  ): Promise<T | undefined> {
    const query = this.model.findOneAndUpdate(filter as never, update as never, {
      ...{ returnDocument: 'after' },
      ...options,
    });
    return ((await this.#of(query, tenant).lean()) ?? undefined) as T | undefined;
  }

  async updateMany(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.#of(this.model.updateMany(filter as never, update as never), tenant);
  }

  async updateWithoutRevision(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<void> {
    const query = this.model.updateMany(filter as never, update as never);
    await this.#of(query, tenant).setOptions({ tracked: false });
  }

  async softDelete(tx: Transaction, filter: Filter<T>, { isShown = true } = {}): Promise<void> {
    const $set = { deletedAt: tx.now };
    const query = this.model.updateMany({ ...filter, deletedAt: null } as never, { $set } as never);
    await query.of(tx).setOptions({ tracked: isShown });
  }

  async restore(tx: Transaction, filter: Filter<T>): Promise<void> {
    const deleted = { ...filter, deletedAt: { $ne: null } };
    await this.model.updateMany(deleted as never, { $set: { deletedAt: null } } as never).of(tx);
  }

  async deleteOne(tenant: Whose, filter: Filter<T>): Promise<boolean> {
    return (await this.#of(this.model.findOneAndDelete(filter as never), tenant).lean()) !== null;
  }

  async deleteMany(tenant: Whose, filter: Filter<T>): Promise<void> {
    await this.#of(this.model.deleteMany(filter as never), tenant);
  }

  async deleteSome(tenant: Whose, limit: number): Promise<number> {
    const found = await this.find(tenant, {}, { projection: { _id: 1 }, limit });
    const ids = (found as { _id: unknown }[]).map(({ _id }) => _id);
    const query = this.#of(this.model.deleteMany({ _id: { $in: ids } } as never), tenant);
    return (await query.setOptions({ middleware: false })).deletedCount;
  }

  upsertMany(
    tenant: Whose,
    upserts: readonly { filter: Filter<T>; update: Update<T> }[],
  ): Promise<void> {
    return this.#updateEach(tenant, upserts, true);
  }

  updateEach(
    tenant: Whose,
    updates: readonly { filter: Filter<T>; update: Update<T> }[],
  ): Promise<void> {
    return this.#updateEach(tenant, updates, false);
  }

  async resetSyncClients(tx: Transaction): Promise<void> {
    await resetSyncClients(tx, this.model.db);
  }

  async #updateEach(
    tenant: Whose,
    updates: readonly { filter: Filter<T>; update: Update<T> }[],
    upsert: boolean,
  ): Promise<void> {
    const writes = updates.map(({ filter, update }) => ({
      updateOne: { filter: this.#scoped(tenant, filter), update, upsert },
    }));
    await this.#bulkWrite(tenant, writes);
  }

  async #bulkWrite(tenant: Whose, writes: readonly object[], options: object = {}): Promise<void> {
    const session: { session?: ClientSession } = tenant.session ? { session: tenant.session } : {};
    await this.model.bulkWrite([...writes] as never, { ...session, ...options });
  }

  #found(
    tenant: Whose,
    filter: Filter<T>,
    { sort, limit, projection, hint, promoteBuffers }: BatchOptions,
  ) {
    const query = this.model.find(filter as never, projection, {
      ...(sort && { sort }),
      ...(limit && { limit }),
      ...(hint && { hint }),
    });
    const owned = this.#of(query, tenant);
    return owned.setOptions(promoteBuffers === undefined ? {} : { promoteBuffers }).lean();
  }

  #of<Q extends Query<unknown, unknown>>(query: Q, tenant: Whose): Q {
    return this.#isOwned
      ? (query as Q & { of(tenant: unknown): Q }).of(tenant)
      : query.session(tenant.session ?? null);
  }

  #scoped(tenant: Whose, filter: Filter<T>): Filter<T> {
    return 'userId' in tenant && this.#isOwned ? { ...filter, userId: tenant.userId } : filter;
  }
}

