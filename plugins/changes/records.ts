import { anyOf, idText, type StoredId } from '../../src/core/ids';
import type { Stored } from '../../src/data/changes/changes';
import type { Tenant } from '../../src/data/model/models';
import type { OwnedModel } from '../../src/data/model/owner';

/** A place among records by revision: just after one of them, or after all of a revision. */
export interface RevisionPlace {
  revision: number;
  id?: StoredId | undefined;
}

/** A stretch of records by revision. */
interface RevisionRange {
  after: RevisionPlace;
  /** The first revision that is not in it. */
  before?: number;
  limit: number;
}

/** Selects softly deleted records in the form of a partial index, so that queries can use it. */
export const SOFTLY_DELETED = { deletedAt: { $type: 'date' } };

/** The records of a tracked model by the revision of their last change. */
export class ChangedRecords {
  readonly #model: OwnedModel<Stored>;
  readonly #selected: object;
  readonly #embeds: string | undefined;

  /**
   * @param filter selects the records; by default all of the model
   * @param embeds the field with the ids of the records that they embed
   */
  constructor(model: OwnedModel<object>, filter: object = {}, embeds?: string) {
    // Documents of a tracked model have these fields.
    this.#model = model as unknown as OwnedModel<Stored>;
    this.#selected = filter;
    this.#embeds = embeds;
  }

  /** Records in the order of their last changes, and by id within a revision. */
  after(tenant: Tenant, range: RevisionRange): Promise<Stored[]> {
    return this.#find(tenant, range, {});
  }

  /** The same, of the records that embed another. */
  async referringTo(tenant: Tenant, id: StoredId, range: RevisionRange): Promise<Stored[]> {
    return this.#embeds === undefined
      ? []
      : this.#find(tenant, range, { [this.#embeds]: anyOf([id]) });
  }

  /** Whether a record that last changed before a revision embeds one of some records. */
  async anyReferringTo(tenant: Tenant, ids: readonly StoredId[], before: number): Promise<boolean> {
    if (this.#embeds === undefined) return false;
    const filter = this.#filter({ [this.#embeds]: anyOf(ids), revision: { $lt: before } });
    return (await this.#model.exists(filter).of(tenant)) !== null;
  }

  /** The ids of those records that exist. */
  async existing(tenant: Tenant, ids: readonly StoredId[]): Promise<Set<string>> {
    const filter = this.#filter({ _id: anyOf(ids) });
    const found = await this.#model.find(filter).of(tenant).select('_id').lean<Stored[]>();
    return new Set(found.map(({ _id }) => idText(_id)));
  }

  /** Reads two ranges of an index: the rest of a revision, then later revisions. */
  async #find(
    tenant: Tenant,
    { after: { revision, id }, before = Infinity, limit }: RevisionRange,
    filter: object,
  ): Promise<Stored[]> {
    const rest =
      id === undefined
        ? []
        : await this.#range(tenant, { ...filter, revision, _id: { $gt: id } }, limit);
    if (rest.length === limit || revision + 1 >= before) return rest;
    const later = { $gt: revision, ...(before === Infinity ? {} : { $lt: before }) };
    const left = limit - rest.length;
    return [...rest, ...(await this.#range(tenant, { ...filter, revision: later }, left))];
  }

  async #range(tenant: Tenant, filter: object, limit: number): Promise<Stored[]> {
    const found = this.#model.find(this.#filter(filter)).of(tenant);
    return found.sort({ revision: 1, _id: 1 }).limit(limit).lean<Stored[]>();
  }

  #filter(filter: object): object {
    return { ...this.#selected, ...filter };
  }
}
