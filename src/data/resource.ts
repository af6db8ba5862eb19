import { type IndexDefinition, type mongo, Schema } from 'mongoose';

import type { ErrorCode } from '../core/errors';
import { idText, newId, type StoredId, toStoredId } from '../core/ids';
import type { CreateBody, Document, Fields, PatchBody } from '../fields/field';
import type { RecordDefinition } from '../fields/record';
import { tracked } from './changes';
import { accountModel, type Tenant, type ModelDefinition } from './models';
import { counted } from './quotas';
import { RecordLookup } from './record-lookup';
import { withIds } from './record-reader';
import type { Records } from './records';
import type { Transaction } from './transaction';

/**
 * The model of a resource of accounts.
 *
 * @param indexes each leads with `userId`
 * @param options.tracked what `GET /api/changes` calls such a record (see `tracked`)
 * @param options.quota what its records count against, and what frees their places (see `counted`)
 */
export function resourceModel<F extends Fields>(
  name: string,
  collection: string,
  { paths }: RecordDefinition<F>,
  indexes: readonly IndexDefinition[],
  options: { tracked?: string; quota?: string; freedBy?: string } = {},
): ModelDefinition<Document<F>, 'account'> {
  const schema = new Schema(paths, { collection, versionKey: false });
  for (const index of indexes) schema.index(index);
  let model = accountModel<Document<F>>(name, schema);
  if (options.tracked !== undefined) model = tracked(options.tracked, model);
  const { quota, freedBy } = options;
  return quota === undefined ? model : counted(quota, model, freedBy === undefined ? {} : { freedBy });
}

/** The order of lists of all records. */
export const LIST_ORDER = { createdAt: 1, _id: 1 } as const;

/** What the program sets on every new record of a resource. */
interface SetOnCreate {
  _id: StoredId;
  userId: string;
  createdAt: Date;
  updatedAt: Date;
}

/** How documents are made; a RecordDefinition does it. */
interface Definition<Stored, CreateBody, PatchBody> {
  toDocument(body: CreateBody, set: SetOnCreate): Stored;
  toChanges(body: PatchBody): Partial<Stored>;
}

/** The records of a definition, as {@link Resource} has them. */
export type ResourceOf<F extends Fields> =
  Document<F> extends infer Stored extends Omit<SetOnCreate, 'updatedAt'>
    ? Resource<Stored, CreateBody<F>, PatchBody<F>>
    : never;

/** What most plugins do with the records of an account: list them, and the rest by their ids. */
export class Resource<
  Stored extends Omit<SetOnCreate, 'updatedAt'>,
  CreateBody,
  PatchBody extends object,
> {
  readonly #definition: Definition<Stored, CreateBody, PatchBody>;
  readonly #notFound: ErrorCode;
  readonly #lookup: RecordLookup<Stored>;

  /** @param notFound the error for an id that none of the account's records has */
  constructor(
    definition: Definition<Stored, CreateBody, PatchBody>,
    protected readonly records: Records<Stored, Tenant>,
    notFound: ErrorCode,
  ) {
    this.#definition = definition;
    this.#notFound = notFound;
    this.#lookup = new RecordLookup(records);
  }

  /** All of an account, by `createdAt`, then `id`. */
  list(tenant: Tenant): Promise<Stored[]> {
    return this.records.find(tenant, {}, { sort: LIST_ORDER });
  }

  /** @throws ApiError where there is none */
  async get(tenant: Tenant, id: string): Promise<Stored> {
    const [found] = await this.#lookup.find(tenant, [toStoredId(id)]);
    return this.#found(found);
  }

  /** Whether the account has a record with this id. */
  async exists(tenant: Tenant, id: string): Promise<boolean> {
    if (tenant.session) return this.records.exists(tenant, withId(id));
    return (await this.#lookup.find(tenant, [toStoredId(id)])).length === 1;
  }

  /** The account's records with some ids; those that are not there are left out. */
  some(tenant: Tenant, ids: readonly StoredId[]): Promise<Stored[]> {
    return this.#lookup.find(tenant, ids);
  }

  async create(tx: Transaction, body: CreateBody, _id = newId()): Promise<Stored> {
    const { userId, now } = tx;
    const set = { _id, userId, createdAt: now, updatedAt: now };
    const document = this.#definition.toDocument(body, set);
    await this.records.insert(tx, document);
    return document;
  }

  /** Changes the fields given; none given changes nothing. @throws ApiError where there is none */
  async update(tx: Transaction, id: string, body: PatchBody): Promise<Stored> {
    if (Object.keys(body).length === 0) return this.get(tx, id);
    const $set = { ...this.#definition.toChanges(body), updatedAt: tx.now };
    return this.#found(await this.records.findOneAndUpdate(tx, withId(id), { $set }));
  }

  /** Deletes for good. @throws ApiError where there is none */
  async delete(tx: Transaction, id: string): Promise<void> {
    if (!(await this.records.deleteOne(tx, withId(id)))) throw this.#notFound.error();
  }

  /** Whose records with these ids are, by the ids of those that there are: a seed may name any. */
  async owners(ids: readonly string[]): Promise<Map<string, string>> {
    const named = withIds<Stored>(ids.map(toStoredId));
    const found = await this.records.findAcrossAccounts('a seed may name any ids', named);
    return new Map(found.map(({ _id, userId }) => [idText(_id), userId]));
  }

  #found(document: Stored | undefined): Stored {
    if (!document) throw this.#notFound.error();
    return document;
  }
}

function withId<Stored>(id: string): mongo.Filter<Stored> {
  // Every document has this `_id`, which the filter's type cannot know of a type yet to be given.
  return { _id: toStoredId(id) } as mongo.Filter<Stored>;
}
