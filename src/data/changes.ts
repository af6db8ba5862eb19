import type Joi from 'joi';

import { capitalized } from '../core/text';
import { anyOf, asUuid, idText, type StoredId } from '../core/ids';
import { type Tenant, collectionOf, LIVE, type ModelDefinition } from './models';
import type { Records } from './records';

/** What a record of a tracked model has beside its own fields. */
export interface Revised {
  _id: StoredId;
  /** The account's revision at its last change. */
  revision: number;
}

/** A record of a tracked model, whichever it is. */
export type Stored = Revised & Readonly<Record<string, unknown>>;

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
  return { ...definition, tracked: kind, softlyDeleted };
}

/** Other records that a record names. */
interface Named {
  kind: string;
  /** The field that has the id, or ids. */
  field: string;
}

/** A list of `GET /api/changes`. */
export interface ChangedList {
  name: string;
  /** What deletions call the records that it shows (see {@link tracked}). */
  kind: string;
  /** Their model. A list without one shows more of the records of another list. */
  model?: ModelDefinition<object, 'account'>;
  description: string;
  /** How one of its items is shown: nothing that moves with time alone, of which no copy learns. */
  view: Joi.Schema;
  /** What records embed: they come again when it changes. */
  embeds?: Named;
  /** What stands for records when it is deleted. */
  partOf?: Named;
  /** Shows records: each in its order, or, where a list has no model, what it has to show of them. */
  present: (tenant: Tenant, documents: readonly Stored[]) => Promise<readonly unknown[]>;
}

/** How the records of a tracked model are shown: one by one, or many together. */
type Shown<T> =
  | { show: (document: T) => unknown }
  | { present: (tenant: Tenant, documents: readonly T[]) => Promise<readonly unknown[]> };

/**
 * The list of `GET /api/changes` that shows the records of a tracked model, under the name of its
 * collection. Each plugin contributes one for each of its tracked models.
 */
export function changedList<T extends object>(
  model: ModelDefinition<T, 'account'>,
  list: Pick<ChangedList, 'view' | 'embeds' | 'partOf'> & Shown<T>,
): ChangedList {
  const { view, embeds, partOf } = list;
  const name = collectionOf(model);
  // The documents of a list are those of its model.
  const of = (documents: readonly Stored[]) => documents as unknown as readonly T[];
  return {
    name,
    kind: model.tracked ?? '',
    model,
    description: `${capitalized(name)} that are new or changed`,
    view,
    ...(embeds && { embeds }),
    ...(partOf && { partOf }),
    present: async (tenant, documents) =>
      'show' in list
        ? of(documents).map((each) => list.show(each))
        : list.present(tenant, of(documents)),
  };
}

/** The records of a tracked model by the revision of their last change. */
export class ChangedRecords {
  readonly #records: Records<object, Tenant>;
  readonly #there: object;
  readonly #embeds: string | undefined;

  /**
   * @param there finds those that are there, or that are listed apart
   * @param embeds the field that has the ids of records that they embed
   */
  constructor(records: Records<object, Tenant>, there: object = {}, embeds?: string) {
    this.#records = records;
    this.#there = there;
    this.#embeds = embeds;
  }

  /** Records in the order of their last changes, and by id within a revision. */
  after(tenant: Tenant, range: RevisionRange): Promise<Stored[]> {
    return this.#find(tenant, range, {});
  }

  /** The same of those that embed a record. */
  async referringTo(
    tenant: Tenant,
    id: StoredId,
    range: RevisionRange,
  ): Promise<Stored[]> {
    return this.#embeds === undefined
      ? []
      : this.#find(tenant, range, { [this.#embeds]: anyOf([id]) });
  }

  /** Whether any that last changed before a revision embeds one of some records. */
  async anyReferringTo(
    tenant: Tenant,
    ids: readonly StoredId[],
    before: number,
  ): Promise<boolean> {
    if (this.#embeds === undefined) return false;
    const filter = this.#filter({ [this.#embeds]: anyOf(ids), revision: { $lt: before } });
    return this.#records.exists(tenant, filter);
  }

  /** Which of some records are there. */
  async existing(tenant: Tenant, ids: readonly StoredId[]): Promise<Set<string>> {
    const found = await this.#records.find(tenant, this.#filter({ _id: anyOf(ids) }), {
      projection: { _id: 1 },
    });
    return new Set((found as Stored[]).map(({ _id }) => idText(_id))); // As in `#range`.
  }

  /** Each is one range of an index: what a revision still has, however much, and what comes after. */
  async #find(
    tenant: Tenant,
    { after: { revision, id }, before = Infinity, limit }: RevisionRange,
    filter: object,
  ): Promise<Stored[]> {
    const rest =
      id === undefined
        ? []
        : await this.#range(tenant, { ...filter, revision, _id: { $gt: asUuid(id) } }, limit);
    if (rest.length === limit || revision + 1 >= before) return rest;
    const further = { $gt: revision, ...(before === Infinity ? {} : { $lt: before }) };
    const left = limit - rest.length;
    return [...rest, ...(await this.#range(tenant, { ...filter, revision: further }, left))];
  }

  async #range(tenant: Tenant, filter: object, limit: number): Promise<Stored[]> {
    const sort = { revision: 1, _id: 1 } as const;
    const found = await this.#records.find(tenant, this.#filter(filter), { sort, limit });
    return found as Stored[]; // Documents of a tracked model have these fields.
  }

  #filter(filter: object): object {
    return { ...this.#there, ...filter };
  }
}
