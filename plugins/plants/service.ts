import type { ClientSession, UpdateQuery } from 'mongoose';

import type { Account } from '../../src/core/identity';
import { anyOf, idText, newId, type StoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import { batchesOf } from '../../src/data/model/batches';
import { existing, insert, LIST_ORDER, Resource } from '../../src/data/model/resource';
import { resetSyncClients } from '../../src/data/model/tracking';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Photos, unknownPlant } from '../photos';
import { Archive } from './archive';
import { PlantCare } from './care';
import { plantsChanged, plantCreated, plantDeleted } from './domain-events';
import { PlantLists } from './list';
import { plantModel, plantNotFound } from './model';
import { Places } from './places';
import {
  archivedOf,
  type ArchivePlant,
  type CreatePlant,
  plant,
  plantSummary,
  type PlantDocument,
  type PlantListQuery,
  type PlantStatus,
  type PlantView,
  STATUSES,
  type SummaryView,
  type UpdatePlant,
} from './schema';
import { PlantViews } from './views';

const BRIEF_FIELDS = ['name', 'species', 'createdAt', 'archivedAt'] as const;

/** The fields of a plant that other plugins show. */
export type PlantSummary = { id: string } & Pick<PlantDocument, (typeof BRIEF_FIELDS)[number]>;

/** Selects plants by all the criteria that are given. */
interface SomePlants {
  ids?: readonly string[] | undefined;
  location?: string | undefined;
  status?: PlantStatus;
}

const SUMMARY_FIELDS = [...Object.keys(plantSummary.paths), 'archivedAt', 'archiveReason'];

/** Plants: their lists, changes and views. */
export class PlantService {
  readonly places;
  readonly care;
  readonly views;
  readonly #archive;
  readonly #lists;
  readonly #model;
  readonly #plants;
  readonly #photos: Photos;

  constructor(host: Host, photos: Photos) {
    this.#photos = photos;
    this.views = new PlantViews(photos);
    this.#model = host.model(plantModel);
    this.places = new Places(this.#model);
    this.care = new PlantCare(this.#model);
    this.#archive = new Archive(this.#model);
    this.#lists = new PlantLists(this.#model, this.places);
    this.#plants = new Resource(plant, this.#model, plantNotFound);
  }

  /** Lists plants, a batch at a time. */
  async *list(account: Account, query: PlantListQuery): AsyncGenerator<PlantView[]> {
    for await (const batch of this.#lists.batches(account, query)) {
      yield await this.views.of({ userId: account.id }, batch);
    }
  }

  /** The same in short form. */
  async *listInShort(account: Account, query: PlantListQuery): AsyncGenerator<SummaryView[]> {
    for await (const batch of this.#lists.batches(account, query, SUMMARY_FIELDS)) {
      yield batch.map((each) => ({ ...plantSummary.toView(each), ...archivedOf(each) }));
    }
  }

  /** @throws ApiError plant_not_found */
  async get(tenant: Tenant, id: string): Promise<PlantView> {
    return this.views.ofOne(tenant, await this.#plants.get(tenant, id));
  }

  /** @throws ApiError photo_not_found for a primary photo that is not the account's */
  async create(tx: Transaction, body: CreatePlant): Promise<PlantView> {
    const _id = newId();
    const plantId = idText(_id);
    await this.#showPrimary(tx, plantId, body);
    const created = await this.#plants.create(tx, body, { _id });
    await tx.emit(plantCreated, { plantId, name: created.name });
    return this.views.ofOne(tx, created);
  }

  /** Changes the given fields, or nothing if none is given. @throws ApiError plant_not_found */
  async update(tx: Transaction, id: string, body: UpdatePlant): Promise<PlantView> {
    const before = await this.#plants.get(tx, id);
    const changed = await this.#plants.update(tx, id, body, before);
    await this.#showPrimary(tx, id, body);
    await tx.emit(plantsChanged, { plantIds: [id], change: body, before });
    return this.views.ofOne(tx, changed);
  }

  /** @throws ApiError as {@link Archive.archive} */
  async archive(tx: Transaction, id: string, body: ArchivePlant): Promise<PlantView> {
    return this.views.ofOne(tx, await this.#archive.archive(tx, id, body));
  }

  /** @throws ApiError as {@link Archive.unarchive} */
  async unarchive(tx: Transaction, id: string): Promise<PlantView> {
    return this.views.ofOne(tx, await this.#archive.unarchive(tx, id));
  }

  /** Deletes a plant for good. @throws ApiError plant_not_found */
  async delete(tx: Transaction, id: string): Promise<void> {
    const { name } = await this.#plants.delete(tx, id);
    await this.#photos.detachPlant(tx, id);
    await tx.emit(plantDeleted, { plantId: id, name });
  }

  exists(tenant: Tenant, id: string): Promise<boolean> {
    return this.#plants.exists(tenant, id);
  }

  /** @throws ApiError plant_not_found with status 400 unless the id is that of a plant of the account */
  async requireOwn(tenant: Tenant, id: string, field: string): Promise<void> {
    if (await this.exists(tenant, id)) return;
    throw unknownPlant.error(`${field} names a plant that is not yours.`);
  }

  /** Some fields of all plants, archived ones included, in the order of the list. */
  async summaries(userId: string, session: ClientSession): Promise<PlantSummary[]> {
    const found = await this.fields({ userId, session }, BRIEF_FIELDS);
    return found.map(({ _id, ...fields }) => ({ ...fields, id: idText(_id) }));
  }

  /**
   * Fields of plants in the order of the list, including fields that another plugin stores with them.
   */
  async fields(
    tenant: Tenant,
    names: readonly string[],
    { ids, location, status = 'all' }: SomePlants = {},
  ): Promise<PlantDocument[]> {
    const filter = { ...(await this.places.filter(tenant, location)), ...STATUSES[status] };
    const found = this.#model
      .find(filter)
      .of(tenant)
      .select([...names, 'createdAt']);
    if (!ids) return found.sort(LIST_ORDER).lean();
    return (await found.where({ _id: { $in: [...ids] } }).lean()).sort(byCreation);
  }

  /** The ids of plants, in the order of the list. */
  async idsInOrder(tenant: Tenant, some: SomePlants): Promise<string[]> {
    return (await this.fields(tenant, [], some)).map(({ _id }) => idText(_id));
  }

  /**
   * Updates fields of another plugin that are stored with plants. Copies get these plants again, even if
   * nothing is updated, unless it is not tracked.
   */
  async keep(
    tx: Transaction,
    ids: readonly StoredId[],
    update: UpdateQuery<PlantDocument> = {},
    tracked = true,
  ): Promise<void> {
    if (ids.length === 0) return;
    // Fields of another plugin are not in the schema.
    const options = { strict: false };
    await this.#model
      .updateMany({ _id: anyOf(ids) }, update, options)
      .of(tx)
      .setOptions({ tracked });
  }

  /** Removes a photo from the plants that have it as their primary photo. */
  async removePrimaryPhoto(tx: Transaction, photoId: string): Promise<void> {
    const update = { $set: { primaryPhotoId: null } };
    await this.#model.updateMany({ primaryPhotoId: photoId }, update).of(tx);
  }

  /** Those of some ids that have a plant. */
  existing(tenant: Tenant, ids: readonly StoredId[]): Promise<Set<string>> {
    return existing(this.#model, tenant, ids);
  }

  /** The copies of some plants of an export, by the text of the ids of the originals. */
  async copies(tenant: Tenant, originals: readonly StoredId[]): Promise<Map<string, StoredId>> {
    const found = await this.#model
      .find({ originalId: anyOf(originals) })
      .of(tenant)
      .select('originalId')
      .lean();
    return new Map(
      found.flatMap(({ _id, originalId }) => (originalId ? [[idText(originalId), _id]] : [])),
    );
  }

  /** All plants of an account after the first ones, a batch at a time, in the order of the list. */
  all(tenant: Tenant, skipped = 0): AsyncGenerator<PlantDocument[]> {
    return batchesOf<PlantDocument>(this.#model.find().of(tenant).sort(LIST_ORDER).skip(skipped));
  }

  /**
   * Inserts many plants at once. Their events may be stored already, out of reach until now, so copies
   * have to start again.
   *
   * @param options.eventsFollow whether their events are inserted by this same write; copies then go on
   * @throws ApiError plant_limit_reached
   */
  async insertBulk(
    tx: Transaction,
    documents: readonly PlantDocument[],
    { eventsFollow = false } = {},
  ): Promise<void> {
    const archived = documents.filter(({ archivedAt }) => archivedAt);
    await this.#archive.requireRoom(tx, archived.length);
    // Fields of another plugin are not in the schema.
    await insert(this.#model, tx, documents, { lean: true });
    if (!eventsFollow) await resetSyncClients(tx, this.#model.db);
    for (const { _id, name } of documents) {
      await tx.emit(plantCreated, { plantId: idText(_id), name });
    }
  }

  async #showPrimary(
    tx: Transaction,
    plantId: string,
    { primaryPhotoId: photoId }: UpdatePlant,
  ): Promise<void> {
    if (photoId) await this.#photos.showIn(tx, plantId, [photoId], 'primaryPhotoId');
  }
}

/** The order of the list, for plants found by id, which MongoDB would sort in memory as well. */
function byCreation(
  a: Pick<PlantDocument, '_id' | 'createdAt'>,
  b: Pick<PlantDocument, '_id' | 'createdAt'>,
): number {
  const order = a.createdAt.getTime() - b.createdAt.getTime();
  return order === 0 ? (idText(a._id) < idText(b._id) ? -1 : 1) : order;
}
