import type { ClientSession } from 'mongoose';

import { anyOf, idText, newId, type StoredId, toStoredId } from '../../src/core/ids';
import { containing } from '../../src/core/text';
import type { Tenant } from '../../src/data/models';
import { projectionOf } from '../../src/data/record-reader';
import { LIST_ORDER, Resource } from '../../src/data/resource';
import type { Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/host';
import { type Photos, unknownPlant } from '../photos';
import { Archive } from './archive';
import { PlantCare } from './care';
import { plantChanged, plantDeleted } from './domain-events';
import { plantNotFound } from './errors';
import { plantModel } from './model';
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

const BRIEF_FIELDS = ['name', 'species', 'createdAt', 'archivedAt'] as const;

/** What others may need to know of a plant. */
export type PlantSummary = { id: string } & Pick<PlantDocument, (typeof BRIEF_FIELDS)[number]>;

const BRIEF_PROJECTION = projectionOf(BRIEF_FIELDS);
const SUMMARY_PROJECTION = projectionOf([
  ...Object.keys(plantSummary.paths),
  ...['archivedAt', 'archiveReason'],
]);

/** What is done with plants, and how they are shown. */
export class PlantService {
  readonly places;
  readonly care;
  readonly #archive;
  readonly #records;
  readonly #plants;
  readonly #photos: Photos;

  constructor(host: Host, photos: Photos) {
    this.#photos = photos;
    this.#records = host.records(plantModel);
    this.places = new Places(this.#records);
    this.care = new PlantCare(this.#records);
    this.#archive = new Archive(this.#records);
    this.#plants = new Resource(plant, this.#records, plantNotFound);
  }

  /** Plants of an account, by `createdAt`, then `id`. */
  async *list(userId: string, query: PlantListQuery): AsyncGenerator<PlantView[]> {
    for await (const batch of this.#listed(userId, query)) {
      yield await this.present({ userId }, batch);
    }
  }

  /** The same in short. */
  async *listInShort(userId: string, query: PlantListQuery): AsyncGenerator<SummaryView[]> {
    for await (const batch of this.#listed(userId, query, SUMMARY_PROJECTION)) {
      yield batch.map((each) => ({ ...plantSummary.toView(each), ...archivedOf(each) }));
    }
  }

  async *#listed(
    userId: string,
    { status, location, q }: PlantListQuery,
    projection?: typeof SUMMARY_PROJECTION,
  ): AsyncGenerator<PlantDocument[]> {
    const isWanted = q === undefined ? () => true : containing(q);
    const filter = { ...(await this.places.filter({ userId }, location)), ...STATUSES[status] };
    const found = this.#records.batches({ userId }, filter, {
      sort: LIST_ORDER,
      ...(projection ? { projection } : {}),
    });
    for await (const batch of found) {
      yield batch.filter(({ name, species }) => isWanted(name) || isWanted(species ?? ''));
    }
  }

  /** @throws ApiError plant_not_found */
  async get(tenant: Tenant, id: string): Promise<PlantView> {
    return this.#presentOne(tenant, await this.#plants.get(tenant, id));
  }

  /** @throws ApiError photo_not_found for a primary photo that is not the account's */
  async create(tx: Transaction, body: CreatePlant, _id = newId()): Promise<PlantView> {
    await this.#showPrimary(tx, idText(_id), body);
    return this.#presentOne(tx, await this.#plants.create(tx, body, _id));
  }

  /** Changes the fields given; none given changes nothing. @throws ApiError plant_not_found */
  async update(tx: Transaction, id: string, body: UpdatePlant): Promise<PlantView> {
    const changed = await this.#plants.update(tx, id, body);
    await this.#showPrimary(tx, id, body);
    await tx.emit(plantChanged, { plantId: id, change: body });
    return this.#presentOne(tx, changed);
  }

  /** @throws ApiError as {@link Archive.archive} */
  async archive(tx: Transaction, id: string, body: ArchivePlant): Promise<PlantView> {
    return this.#presentOne(tx, await this.#archive.archive(tx, id, body));
  }

  /** @throws ApiError as {@link Archive.unarchive} */
  async unarchive(tx: Transaction, id: string): Promise<PlantView> {
    return this.#presentOne(tx, await this.#archive.unarchive(tx, id));
  }

  /** Deletes a plant for good. @throws ApiError plant_not_found */
  async delete(tx: Transaction, id: string): Promise<void> {
    await this.#plants.delete(tx, id);
    await this.#photos.detachPlant(tx, id);
    await tx.emit(plantDeleted, { plantId: id });
  }

  exists(tenant: Tenant, id: string): Promise<boolean> {
    return this.#plants.exists(tenant, id);
  }

  /** @throws ApiError plant_not_found with status 400 where a field names no plant of the account */
  async requireOwn(tenant: Tenant, id: string, field: string): Promise<void> {
    if (await this.exists(tenant, id)) return;
    throw unknownPlant.error(`${field} names a plant that is not yours.`);
  }

  /** All plants of an account in short, archived ones too, in the order of the list. */
  async summaries(userId: string, session: ClientSession): Promise<PlantSummary[]> {
    const documents = await this.#records.find(
      { userId, session },
      {},
      { projection: BRIEF_PROJECTION, sort: LIST_ORDER },
    );
    return documents.map(({ _id, ...fields }) => ({ ...fields, id: idText(_id) }));
  }

  /**
   * Some fields of the active plants of an account, or of those at a location, in the order of the
   * list; also fields that another plugin keeps with them.
   */
  async fields(
    tenant: Tenant,
    names: readonly string[],
    location?: string,
  ): Promise<PlantDocument[]> {
    const options = { projection: projectionOf(names), sort: LIST_ORDER };
    const filter = { ...(await this.places.filter(tenant, location)), ...STATUSES.active };
    return this.#records.find(tenant, filter, options);
  }

  /** Keeps fields of another plugin with a plant; returns the plant, undefined where there is none. */
  keep(tx: Transaction, id: string, fields: object): Promise<PlantDocument | undefined> {
    return this.#records.findOneAndUpdate(tx, { _id: toStoredId(id) }, { $set: fields });
  }

  /**
   * The ids of the plants that there are, in the order of the list: of all, of those of a status or
   * at a location, or of those among `ids`.
   */
  async idsInOrder(
    tenant: Tenant,
    {
      ids,
      location,
      status = 'all',
    }: { ids?: readonly string[]; location?: string | undefined; status?: PlantStatus },
  ): Promise<string[]> {
    const filter = { ...(await this.places.filter(tenant, location)), ...STATUSES[status] };
    const projection = { createdAt: 1 } as const;
    if (!ids) {
      const found = await this.#records.find(tenant, filter, { projection, sort: LIST_ORDER });
      return found.map(({ _id }) => idText(_id));
    }
    const named = { ...filter, _id: { $in: ids.map(toStoredId) } };
    const found = await this.#records.find(tenant, named, { projection });
    return found
      .map(({ _id, createdAt }) => ({ id: idText(_id), at: createdAt.getTime() }))
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
  }

  /** Leaves plants without a primary photo that had this one. */
  async removePrimaryPhoto(tx: Transaction, photoId: string): Promise<void> {
    await this.#records.updateMany(
      tx,
      { primaryPhotoId: toStoredId(photoId) },
      { $set: { primaryPhotoId: null } },
    );
  }

  /** Whose plants with these ids are, by the ids of those that there are. */
  owners(ids: readonly string[]): Promise<Map<string, string>> {
    return this.#plants.owners(ids);
  }

  /** Which of some plants there are. */
  async existing(tenant: Tenant, ids: readonly StoredId[]): Promise<Set<string>> {
    const filter = { _id: anyOf(ids) };
    const found = await this.#records.find(tenant, filter, { projection: { _id: 1 } });
    return new Set(found.map(({ _id }) => idText(_id)));
  }

  /** All plants of an account, some at a time, in the order of the list. */
  all(tenant: Tenant): AsyncGenerator<PlantDocument[]> {
    return this.#records.batches(tenant, {}, { sort: LIST_ORDER });
  }

  /**
   * Inserts many plants at once, whose events may be there already: out of reach so far, so that
   * copies begin anew.
   *
   * @param options.eventsFollow whether this same write inserts their events, and copies go on
   */
  async insertBulk(
    tx: Transaction,
    documents: readonly PlantDocument[],
    { eventsFollow = false } = {},
  ): Promise<void> {
    await this.#records.insertBulk(tx, documents);
    if (!eventsFollow) await this.#records.resetSyncClients(tx);
  }

  async #showPrimary(
    tx: Transaction,
    plantId: string,
    { primaryPhotoId: photoId }: UpdatePlant,
  ): Promise<void> {
    if (photoId) await this.#photos.showIn(tx, plantId, [photoId], 'primaryPhotoId');
  }

  async #presentOne(tenant: Tenant, document: PlantDocument): Promise<PlantView> {
    const [view] = await this.present(tenant, [document]);
    if (!view) throw new Error('One plant was presented as none.');
    return view;
  }

  /** Plants as they are shown, in their order. */
  async present(tenant: Tenant, documents: readonly PlantDocument[]): Promise<PlantView[]> {
    const ids = documents.flatMap(({ primaryPhotoId }) => primaryPhotoId ?? []);
    const photos = await this.#photos.byIds(tenant, ids);
    return documents.map((document) => {
      const view: PlantView = plant.toView(document);
      const primaryPhoto =
        view.primaryPhotoId === null ? undefined : photos.get(view.primaryPhotoId);
      // Not a copy, which would cost as much as the view itself.
      if (primaryPhoto) view.primaryPhoto = primaryPhoto;
      return document.archivedAt ? Object.assign(view, archivedOf(document)) : view;
    });
  }
}
