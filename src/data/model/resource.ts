import type { AnyBulkWriteOperation, UpdateQuery } from 'mongoose';

import type { ErrorCode } from '../../core/errors';
import { anyOf, idText, newId, type StoredId, toStoredId } from '../../core/ids';
import type { CreateBody, Document, Fields, PatchBody } from '../../fields/field';
import type { OwnedModel, Tenant } from './owner';
import { RecordLookup } from './record-lookup';
import type { Transaction } from '../writing/transaction';

/** The order of lists. */
export const LIST_ORDER = { createdAt: 1, _id: 1 } as const;

/** The fields that are set on every new record. */
interface SetOnCreate {
  _id: StoredId;
  userId: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Makes documents, as a `RecordDefinition` does. */
interface Definition<Stored, CreateBody, PatchBody> {
  toDocument(body: CreateBody, set: SetOnCreate & Partial<Stored>): Stored;
  toChanges(body: PatchBody): Partial<Stored>;
}

/** The {@link Resource} of a record definition. */
export type ResourceOf<F extends Fields> =
  Document<F> extends infer Stored extends SetOnCreate
    ? Resource<Stored, CreateBody<F>, PatchBody<F>>
    : never;

/** Lists, reads, creates, updates and deletes records of an account. */
export class Resource<Stored extends SetOnCreate, CreateBody, PatchBody extends object> {
  readonly #definition: Definition<Stored, CreateBody, PatchBody>;
  readonly #notFound: ErrorCode;
  readonly #lookup: RecordLookup<Stored>;

  /** @param notFound the error for an unknown id */
  constructor(
    definition: Definition<Stored, CreateBody, PatchBody>,
    protected readonly model: OwnedModel<Stored>,
    notFound: ErrorCode,
  ) {
    this.#definition = definition;
    this.#notFound = notFound;
    this.#lookup = new RecordLookup(model);
  }

  /** The records of an account, all or those that match, by `createdAt`, then `id`. */
  list(tenant: Tenant, filter: object = {}): Promise<Stored[]> {
    return this.model.find(filter).of(tenant).sort(LIST_ORDER).lean<Stored[]>().exec();
  }

  /** @throws ApiError if it does not exist */
  async get(tenant: Tenant, id: string): Promise<Stored> {
    const [found] = await this.#lookup.find(tenant, [toStoredId(id)]);
    return this.#found(found);
  }

  /** Whether the account has a record with this id. */
  async exists(tenant: Tenant, id: string): Promise<boolean> {
    return (await this.#lookup.find(tenant, [toStoredId(id)])).length === 1;
  }

  /** The records of an account with the given ids; missing ones are left out. */
  some(tenant: Tenant, ids: readonly StoredId[]): Promise<Stored[]> {
    return this.#lookup.find(tenant, ids);
  }

  /** @param set other fields that the program sets, in stored form */
  async create(tx: Transaction, body: CreateBody, set: Partial<Stored> = {}): Promise<Stored> {
    const { userId, now } = tx;
    const own = { _id: newId(), userId, createdAt: now, updatedAt: now };
    const document = this.#definition.toDocument(body, { ...own, ...set });
    await insert(this.model, tx, [document]);
    return document;
  }

  /**
   * Changes the given fields; without any nothing changes.
   *
   * @param before the record, if the transaction has read it
   * @throws ApiError if it does not exist
   */
  async update(tx: Transaction, id: string, body: PatchBody, before?: Stored): Promise<Stored> {
    const known = before ?? (await this.get(tx, id));
    if (Object.keys(body).length === 0) return known;
    const changes = { ...this.#definition.toChanges(body), updatedAt: updateOf(tx, [known]) };
    // Mongoose's types cannot handle a generic type of document.
    const update = { $set: changes } as UpdateQuery<Stored>;
    const updated = this.model.findOneAndUpdate({ _id: id }, update, { returnDocument: 'after' });
    return this.#found(await updated.of(tx).lean<Stored>());
  }

  /** Deletes a record and returns it. @throws ApiError if it does not exist */
  async delete(tx: Transaction, id: string): Promise<Stored> {
    return this.#found(await this.model.findOneAndDelete({ _id: id }).of(tx).lean<Stored>());
  }

  #found(document: Stored | null | undefined): Stored {
    if (!document) throw this.#notFound.error();
    return document;
  }
}

/**
 * The `updatedAt` of a change to some records: later than before, whatever the clock says, since clients
 * tell the versions of a record apart by it. The transaction must have read them.
 */
export function updateOf(
  { now }: Transaction,
  before: readonly Pick<SetOnCreate, 'updatedAt'>[],
): Date {
  const times = before.map(({ updatedAt }) => updatedAt.getTime() + 1);
  return new Date(Math.max(now.getTime(), ...times));
}

/**
 * Inserts records, together with those of other writes (see `grouped`). A single record is validated by
 * its model, unless it is `lean`; to validate many would take ten times as long as to store them.
 */
export async function insert<T>(
  model: OwnedModel<T>,
  { session }: Transaction,
  documents: readonly T[],
  { lean = documents.length > 1 } = {},
): Promise<void> {
  const writes = documents.map((document) => ({ insertOne: { document } }));
  // As above.
  await model.bulkWrite(writes as AnyBulkWriteOperation[], { session, ...(lean && { lean }) });
}

/** Those of some ids that have a document of an account, as texts. */
export async function existing<T extends { _id: StoredId }>(
  model: OwnedModel<T>,
  tenant: Tenant,
  ids: readonly StoredId[],
): Promise<Set<string>> {
  const found = await model
    .find({ _id: anyOf(ids) })
    .of(tenant)
    .select('_id')
    .lean();
  return new Set(found.map(({ _id }) => idText(_id)));
}
