import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import { idText, newId, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import type { PhotoService } from '../photos/service';
import type { PhotoView } from '../photos/schema';
import { plantNotFound } from './errors';
import { plantModel, type PlantDocument } from './model';
import {
  type CreatePlant,
  DETAILS,
  type PlantDetails,
  type PlantView,
  type UpdatePlant,
} from './schema';

declare module '../../src/data/transaction' {
  interface DomainEvents {
    'plant.removed': { plantId: string };
  }
}

/** When a plant was last cared for; derived from its events. */
export interface LastCare {
  lastWatered: Date | null;
  lastEvent: Date | null;
}

/** What others may need to know of a plant. */
export interface PlantSummary extends LastCare {
  id: string;
  name: string;
  species: string | null;
  createdAt: Date;
}

const QUOTA = 'plants';

export class PlantService {
  readonly #plants;
  readonly #reads;

  constructor(
    private readonly host: Host,
    private readonly photos: PhotoService,
  ) {
    this.#plants = host.model(plantModel);
    this.#reads = host.collection(plantModel);
  }

  /** All plants of an account, by `createdAt`, then `id`. */
  async list(userId: string): Promise<PlantView[]> {
    const documents = await this.#reads
      .find({ userId }, { promoteBuffers: true })
      .sort({ createdAt: 1, _id: 1 })
      .toArray();
    return this.#present(userId, documents);
  }

  /** @throws ApiError plant_not_found */
  async get(userId: string, id: string): Promise<PlantView> {
    const document = await this.#reads.findOne({ userId, _id: toStoredId(id) });
    if (!document) throw plantNotFound.error();
    return this.#presentOne(document);
  }

  /** @throws ApiError photo_not_found for a primary photo that is not the account's */
  async create(tx: Transaction, plant: CreatePlant, _id = newId()): Promise<PlantView> {
    const document = newPlant(tx.account.id, plant, tx.now, _id);
    const photo = await this.#requirePhoto(tx, plant.primaryPhotoId);
    await this.#plants.create([document], { session: tx.session });
    return present(document, photo);
  }

  /** Changes the fields given; none given changes nothing. @throws ApiError plant_not_found */
  async update(tx: Transaction, id: string, changes: UpdatePlant): Promise<PlantView> {
    const scope = { userId: tx.account.id, _id: toStoredId(id) };
    const before = await this.#reads.findOne(scope, { session: tx.session });
    if (!before) throw plantNotFound.error();
    if (Object.keys(changes).length === 0) return this.#presentOne(before, tx.session);
    await this.#requirePhoto(tx, changes.primaryPhotoId);
    const set = { ...stored(changes), updatedAt: tx.now };
    await this.#plants.updateOne(scope, { $set: set }, { session: tx.session });
    return this.#presentOne({ ...before, ...set }, tx.session);
  }

  /** Removes a plant for good, and tells whoever keeps what belonged to it. */
  async remove(tx: Transaction, id: string): Promise<void> {
    const { deletedCount } = await this.#plants.deleteOne(
      { userId: tx.account.id, _id: toStoredId(id) },
      { session: tx.session },
    );
    if (deletedCount === 0) throw plantNotFound.error();
    await tx.addUsage(QUOTA, -1);
    await tx.emit('plant.removed', { plantId: id });
  }

  /** The distinct non-empty locations, sorted by UTF-16 code unit. */
  async locations(userId: string): Promise<string[]> {
    const values: unknown[] = await this.#reads.distinct('location', { userId });
    return values
      .filter((value): value is string => typeof value === 'string' && value !== '')
      .sort();
  }

  async exists(userId: string, id: string, session?: ClientSession): Promise<boolean> {
    const found = await this.#reads.findOne(
      { userId, _id: toStoredId(id) },
      { projection: { _id: 1 }, ...(session ? { session } : {}) },
    );
    return found !== null;
  }

  /** All plants of an account in short, in the order of the list. */
  async summaries(userId: string, session: ClientSession): Promise<PlantSummary[]> {
    const documents = await this.#reads
      .find({ userId }, { session, promoteBuffers: true })
      .project<PlantDocument>({ name: 1, species: 1, createdAt: 1, lastWatered: 1, lastEvent: 1 })
      .sort({ createdAt: 1, _id: 1 })
      .toArray();
    return documents.map(({ _id, name, species, createdAt, lastWatered, lastEvent }) => ({
      id: idText(_id),
      name,
      species,
      createdAt,
      lastWatered,
      lastEvent,
    }));
  }

  /**
   * Takes note of an event: only a later one than those known moves anything.
   *
   * @returns whether there is such a plant
   */
  async noteCare(tx: Transaction, id: string, care: Partial<LastCare>): Promise<boolean> {
    const { matchedCount } = await this.#plants.updateOne(
      { userId: tx.account.id, _id: toStoredId(id) },
      { $max: care },
      { session: tx.session },
    );
    return matchedCount === 1;
  }

  /** Sets when a plant was last cared for, whatever was known before. */
  async setLastCare(tx: Transaction, id: string, care: LastCare): Promise<void> {
    await this.#plants.updateOne(
      { userId: tx.account.id, _id: toStoredId(id) },
      { $set: care },
      { session: tx.session },
    );
  }

  /** Whose plants with these ids are, by the ids of those that there are. */
  async owners(ids: readonly string[]): Promise<Map<string, string>> {
    const found = await this.host.acrossAccounts('ids in seeds may be those of others', () =>
      this.#plants
        .find({ _id: { $in: ids.map(toStoredId) } }, { userId: 1 })
        .lean()
        .exec(),
    );
    return new Map(found.map(({ _id, userId }) => [idText(_id), userId]));
  }

  /** How many plants there are, counted one by one. */
  count(tx: Transaction): Promise<number> {
    return this.#plants.countDocuments({ userId: tx.account.id }).session(tx.session);
  }

  /** Keeps many plants at once; how many the tier allows is the caller's care. */
  async insertBulk(tx: Transaction, documents: readonly PlantDocument[]): Promise<void> {
    await this.#reads.insertMany([...documents], { session: tx.session });
    await tx.addUsage(QUOTA, documents.length);
  }

  async #requirePhoto(
    tx: Transaction,
    id: string | null | undefined,
  ): Promise<PhotoView | undefined> {
    if (id === undefined || id === null) return undefined;
    const [photo] = await this.photos.require(tx, [id], 'primaryPhotoId');
    return photo;
  }

  async #presentOne(document: PlantDocument, session?: ClientSession): Promise<PlantView> {
    const { userId, primaryPhotoId } = document;
    if (primaryPhotoId === null) return present(document, undefined);
    const photos = await this.photos.byIds(userId, [primaryPhotoId], session);
    return present(document, photos.get(idText(primaryPhotoId)));
  }

  async #present(userId: string, documents: readonly PlantDocument[]): Promise<PlantView[]> {
    const ids = documents.flatMap(({ primaryPhotoId }) => primaryPhotoId ?? []);
    const photos = await this.photos.byIds(userId, ids);
    return documents.map((document) => {
      const { primaryPhotoId } = document;
      return present(document, primaryPhotoId ? photos.get(idText(primaryPhotoId)) : undefined);
    });
  }
}

function present(document: PlantDocument, primaryPhoto: PhotoView | undefined): PlantView {
  const { _id, primaryPhotoId, ...facts } = document;
  return {
    id: idText(_id),
    ...facts,
    primaryPhotoId: primaryPhotoId === null ? null : idText(primaryPhotoId),
    ...(primaryPhoto ? { primaryPhoto } : {}),
  };
}

/** Changes as they are stored: ids in their stored form. */
function stored(changes: UpdatePlant): Partial<PlantDocument> {
  const { primaryPhotoId, ...rest } = changes;
  if (primaryPhotoId === undefined) return rest;
  return { ...rest, primaryPhotoId: primaryPhotoId === null ? null : toStoredId(primaryPhotoId) };
}

/** A plant as it is first stored. */
function newPlant(
  userId: string,
  plant: CreatePlant,
  now: Date,
  _id: PlantDocument['_id'],
): PlantDocument {
  const details = Object.fromEntries(DETAILS.map(([field]) => [field, plant[field] ?? null]));
  return {
    _id,
    userId,
    name: plant.name,
    // Each detail as it was given, or null; their types are those of the fields they are named by.
    ...(details as unknown as PlantDetails),
    mossPoleNeeded: plant.mossPoleNeeded,
    toxic: plant.toxic,
    primaryPhotoId: plant.primaryPhotoId === undefined ? null : toStoredId(plant.primaryPhotoId),
    createdAt: now,
    updatedAt: now,
    lastWatered: null,
    lastEvent: null,
  };
}
