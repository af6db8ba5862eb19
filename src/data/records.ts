import type { Model, mongo } from 'mongoose';

import type { StoredId } from '../core/ids';
import { LIVE, type SharedTenant } from './models';
import { placesOf, type QuotaCounter } from './quotas';
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
 * The records of a model, read and written within a tenant. Inserts of single records are validated by
 * the Mongoose model, which adds nothing to them: they are stored as they are given.
 *
 * In a transaction, inserts and updates whose outcome nobody waits for are sent together with others
 * (see {@link WriteBuffer}). Writes to a tracked model set the revision of its records, and
 * deletions are recorded; only `updateWithoutRevision` and `deleteSome` are of no concern to copies.
 *
 * What is added to a model with a quota, deleted or brought back moves the account's usage; only
 * `deleteSome`, for accounts that go, does not. Nothing is added over the limit. Where another field
 * frees the places of records, `updateCounted` alone sets it.
 */
export class Records<T extends object, Whose extends SharedTenant> extends RecordReader<T, Whose> {
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

  async insert(tenant: Whose, record: T): Promise<void> {
    const document = this.#inserted(tenant, record);
    await this.#model.validate(document);
    this.#count(tenant, [record]);
    await this.#send(tenant, [{ write: { insertOne: { document } } }]);
  }

  /** Inserts many records without the model's validation; all have their `_id`. */
  async insertBulk(tenant: Whose, records: readonly T[]): Promise<void> {
    this.#count(tenant, records);
    await this.#send(
      tenant,
      records.map((record) => ({
        write: { insertOne: { document: this.#inserted(tenant, record) } },
      })),
    );
  }

  /**
   * Updates records that all have to be there; in a transaction that is known only at its end.
   *
   * @param missing the error where one is not there
   */
  async updateExisting(
    tenant: Whose,
    ids: readonly StoredId[],
    update: Update<T>,
    missing: () => Error,
  ): Promise<void> {
    const updateMany = {
      filter: scoped(tenant, withIds<T>(ids)),
      update: this.#updated(tenant, update),
    };
    await this.#send(tenant, [{ write: { updateMany }, required: { count: ids.length, missing } }]);
  }

  /** Returns whether a record matched. */
  async updateOne(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    await this.flush(tenant);
    const { matchedCount } = await this.collection.updateOne(
      scoped(tenant, filter),
      this.#updated(tenant, update),
      sessionOf(tenant),
    );
    return matchedCount === 1;
  }

  /** Updates a record, or inserts it when none matches; returns whether it is new. */
  async upsert(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<boolean> {
    this.#refuseUpsert();
    await this.flush(tenant);
    const { upsertedCount } = await this.collection.updateOne(
      scoped(tenant, filter),
      this.#updated(tenant, update),
      { ...sessionOf(tenant), upsert: true },
    );
    return upsertedCount === 1;
  }

  /** Updates a record, or inserts it with `upsert`; answers it as it is then, or was before. */
  async findOneAndUpdate(
    tenant: Whose,
    filter: Filter<T>,
    update: Update<T>,
    options: { upsert?: boolean; returnDocument?: 'before' } = {},
  ): Promise<T | undefined> {
    if (options.upsert) this.#refuseUpsert();
    return this.#findOneAndUpdate(tenant, filter, this.#updated(tenant, update), options);
  }

  /**
   * Changes a record, also by the field that frees its place; answers it as it is then.
   *
   * @throws ApiError where it takes a place again, and there is none
   */
  async updateCounted(tenant: Whose, filter: Filter<T>, $set: Partial<T>): Promise<T | undefined> {
    const update = this.#tracked(tenant, { $set } as Update<T>); // Its own fields, in stored form.
    const was = { returnDocument: 'before' } as const;
    const before = await this.#findOneAndUpdate(tenant, filter, update, was);
    if (!before) return undefined;
    const after = { ...before, ...$set };
    this.#count(tenant, [after], [before]);
    return after;
  }

  async updateMany(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.flush(tenant);
    await this.collection.updateMany(
      scoped(tenant, filter),
      this.#updated(tenant, update),
      sessionOf(tenant),
    );
  }

  /** Updates what nobody is shown, or records that are out of reach: no copy has to follow. */
  async updateWithoutRevision(tenant: Whose, filter: Filter<T>, update: Update<T>): Promise<void> {
    await this.flush(tenant);
    this.#refuseUncounted(update);
    await this.collection.updateMany(scoped(tenant, filter), update, sessionOf(tenant));
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

  /** Returns whether a record matched. */
  async deleteOne(tenant: Whose, filter: Filter<T>): Promise<boolean> {
    await this.flush(tenant);
    const { freedBy } = this.#counter ?? {};
    const deleted = await this.collection.findOneAndDelete(scoped(tenant, filter), {
      ...sessionOf(tenant),
      projection: { _id: 1, ...(freedBy ? { [freedBy]: 1 } : {}) },
    });
    if (!deleted) return false;
    // Records of tracked models have a UUID.
    await this.#tracking?.deleted(tenant, [deleted._id as unknown as StoredId]);
    this.#count(tenant, [], [deleted]);
    return true;
  }

  async deleteMany(tenant: Whose, filter: Filter<T>): Promise<void> {
    await this.flush(tenant);
    if (this.#tracking) {
      const found = await this.find(tenant, filter, { projection: { _id: 1 } });
      // As in `deleteOne`.
      await this.#tracking.deleted(
        tenant,
        (found as { _id: StoredId }[]).map(({ _id }) => _id),
      );
    }
    if (this.#counter) {
      const { freedBy } = this.#counter;
      const counted = freedBy === null ? filter : { ...filter, [freedBy]: null };
      this.#counter.move(tenant, -(await this.count(tenant, counted)));
    }
    await this.collection.deleteMany(scoped(tenant, filter), sessionOf(tenant));
  }

  /** Deletes some of all records, at most so many; answers how many. */
  async deleteSome(tenant: Whose, limit: number): Promise<number> {
    await this.flush(tenant);
    const found = this.collection.find(scoped(tenant, {}), {
      ...sessionOf(tenant),
      projection: { _id: 1 },
      limit,
    });
    const ids = (await found.toArray()).map(({ _id }) => _id);
    // The filter's type cannot know the `_id` of a type yet to be given.
    const some = { _id: { $in: ids } } as Filter<T>;
    const { deletedCount } = await this.collection.deleteMany(
      scoped(tenant, some),
      sessionOf(tenant),
    );
    return deletedCount;
  }

  /** Applies many upserts. */
  async upsertMany(tenant: Whose, upserts: readonly OneUpdate<T>[]): Promise<void> {
    this.#refuseUpsert();
    await this.#updateEach(tenant, upserts, { upsert: true });
  }

  /** Applies many updates, of a record each. */
  async updateEach(tenant: Whose, updates: readonly OneUpdate<T>[]): Promise<void> {
    await this.#updateEach(tenant, updates, { upsert: false });
  }

  async #updateEach(
    tenant: Whose,
    updates: readonly OneUpdate<T>[],
    { upsert }: { upsert: boolean },
  ): Promise<void> {
    await this.#send(
      tenant,
      updates.map(({ filter, update }) => ({
        write: {
          updateOne: {
            filter: scoped(tenant, filter),
            update: this.#updated(tenant, update),
            upsert,
          },
        },
      })),
    );
  }

  /** Has those who keep a copy begin anew, where more came into reach than was written. */
  async resetSyncClients(tenant: Whose): Promise<void> {
    await this.#tracking?.restarted(tenant);
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
    if (this.#counter?.freedBy !== 'deletedAt') return;
    this.#counter.move(tx, deletedAt === null ? modifiedCount : -modifiedCount);
  }

  async #findOneAndUpdate(
    tenant: Whose,
    filter: Filter<T>,
    update: Update<T>,
    options: { upsert?: boolean; returnDocument?: 'before' },
  ): Promise<T | undefined> {
    await this.flush(tenant);
    const found = await this.collection.findOneAndUpdate(scoped(tenant, filter), update, {
      ...{ ...sessionOf(tenant), returnDocument: 'after', ...options },
    });
    // As in `find`.
    return (found ?? undefined) as T | undefined;
  }

  #refuseUpsert(): void {
    if (this.#counter) throw new Error('What counts against a quota is inserted, not upserted.');
  }

  /** Records whose place is freed would be counted as if they were there. */
  #refuseUncounted({ $set }: { readonly $set?: object | undefined }): void {
    if (!$set) return;
    if ('deletedAt' in $set) throw new Error('deletedAt is set by softDelete and restore.');
    const { freedBy } = this.#counter ?? {};
    if (freedBy && freedBy in $set) throw new Error(`${freedBy} is set by updateCounted.`);
  }

  #count(tenant: Whose, added: readonly object[], removed: readonly object[] = []): void {
    if (!this.#counter) return;
    const { freedBy } = this.#counter;
    const by = placesOf(added, freedBy) - placesOf(removed, freedBy);
    if (by !== 0) this.#counter.move(tenant, by);
  }

  #inserted(tenant: Whose, record: T): T {
    return this.#tracking?.inserted(tenant, record) ?? record;
  }

  #updated(tenant: Whose, update: Update<T>): Update<T> {
    this.#refuseUncounted(update);
    return this.#tracked(tenant, update);
  }

  #tracked(tenant: Whose, update: Update<T>): Update<T> {
    if (!this.#tracking) return update;
    // Documents of a tracked model have a `revision`, of which their own type need not know.
    return this.#tracking.updated(tenant, update);
  }

  async #send(tenant: SharedTenant, writes: readonly BufferedWrite[]): Promise<void> {
    const buffer = WriteBuffer.of(tenant.session);
    if (buffer) buffer.add(this.untyped, ownerOf(tenant), writes);
    else await sendWrites(this.untyped, writes, tenant.session);
  }
}
