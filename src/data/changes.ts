import type { mongo } from 'mongoose';

import { anyOf, asUuid, type StoredId } from '../core/ids';
import { type AccountScope, LIVE, type ModelDefinition } from './models';
import type { Records } from './records';

/** What a record of a tracked model has beside its own fields. */
export interface Revised {
  _id: StoredId;
  /** The account's revision at its last change. */
  revision: number;
}

/** A place among records by revision: just after one of them, or after all of a revision. */
export interface RevisionPlace {
  revision: number;
  id?: StoredId | undefined;
}

/** A stretch of records by revision. */
export interface RevisionRange {
  after: RevisionPlace;
  /** The first revision that is not in it. */
  before?: number;
  limit: number;
}

/** Records that are, in words by which an index is known to have them all. */
export const SOFTLY_DELETED = { deletedAt: { $type: 'date' } };

/**
 * The same model with its changes tracked: each record carries the revision of its last change,
 * and deletions of records are recorded.
 *
 * @param kind what a deletion calls such a record
 * @param softlyDeleted whether deleted records stay, with `deletedAt` set: they are listed apart
 */
export function tracked<T>(
  kind: string,
  definition: ModelDefinition<T, 'account'>,
  { softlyDeleted = false } = {},
): ModelDefinition<T, 'account'> {
  const order = { userId: 1, revision: 1, _id: 1 } as const;
  const { schema } = definition;
  schema.add({ revision: { type: Number, required: true } });
  if (softlyDeleted) {
    schema.index(order, { partialFilterExpression: LIVE });
    // Read backwards it is the same order; two indexes on the same keys not every MongoDB takes.
    const backwards = { userId: 1, revision: -1, _id: -1 } as const;
    schema.index(backwards, { partialFilterExpression: SOFTLY_DELETED });
  } else {
    schema.index(order);
  }
  return { ...definition, tracked: kind };
}

/** How the records of a tracked model are read by those who keep a copy of them. */
interface ChangedRecordsOptions<T, View> {
  /** Which of them are there; all unless given. */
  filter?: object;
  /** Where a record has the ids of other records that it shows. */
  references?: string;
  /** How they are shown, in the same order; undefined for one that is out of reach. */
  present: (
    scope: AccountScope,
    documents: readonly (T & Revised)[],
  ) => Promise<(View | undefined)[]>;
}

/** The records of a tracked model by the revision of their last change. */
export class ChangedRecords<T extends object, View> {
  readonly #records: Records<T, AccountScope>;
  readonly #options: ChangedRecordsOptions<T, View>;

  constructor(records: Records<T, AccountScope>, options: ChangedRecordsOptions<T, View>) {
    this.#records = records;
    this.#options = options;
  }

  /** Records in the order of their last changes, and by id within a revision. */
  after(scope: AccountScope, range: RevisionRange): Promise<(T & Revised)[]> {
    return this.#find(scope, range, {});
  }

  /** The same of those that show a record. */
  async referringTo(
    scope: AccountScope,
    id: StoredId,
    range: RevisionRange,
  ): Promise<(T & Revised)[]> {
    const { references } = this.#options;
    return references === undefined ? [] : this.#find(scope, range, { [references]: anyOf([id]) });
  }

  /** Whether any that last changed before a revision shows one of some records. */
  async anyReferringTo(
    scope: AccountScope,
    ids: readonly StoredId[],
    before: number,
  ): Promise<boolean> {
    const { references } = this.#options;
    if (references === undefined) return false;
    const filter = this.#filter({ [references]: anyOf(ids), revision: { $lt: before } });
    return this.#records.exists(scope, filter);
  }

  present(scope: AccountScope, documents: readonly (T & Revised)[]): Promise<(View | undefined)[]> {
    return this.#options.present(scope, documents);
  }

  /** Each is one range of an index: what a revision still has, however much, and what comes after. */
  async #find(
    scope: AccountScope,
    { after: { revision, id }, before = Infinity, limit }: RevisionRange,
    filter: object,
  ): Promise<(T & Revised)[]> {
    const rest =
      id === undefined
        ? []
        : await this.#range(scope, { ...filter, revision, _id: { $gt: asUuid(id) } }, limit);
    if (rest.length === limit || revision + 1 >= before) return rest;
    const further = { $gt: revision, ...(before === Infinity ? {} : { $lt: before }) };
    const left = limit - rest.length;
    return [...rest, ...(await this.#range(scope, { ...filter, revision: further }, left))];
  }

  async #range(scope: AccountScope, filter: object, limit: number): Promise<(T & Revised)[]> {
    const sort = { revision: 1, _id: 1 } as const;
    const found = await this.#records.find(scope, this.#filter(filter), { sort, limit });
    return found as (T & Revised)[]; // As in `#filter`.
  }

  #filter(filter: object): mongo.Filter<T> {
    // Documents of a tracked model have these fields, of which their own type need not know.
    return { ...this.#options.filter, ...filter };
  }
}
