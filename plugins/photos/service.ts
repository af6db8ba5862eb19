import { anyOf, idText, type StoredId, toStoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import { decodeCursor, encodeCursor, inRange, newestFirst, pageOf } from '../../src/data/page';
import { batchesOf } from '../../src/data/model/batches';
import { insert, Resource, updateOf } from '../../src/data/model/resource';
import { forgetDeletions } from '../../src/data/model/tracking';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Page } from '../../src/fields/page';
import type { Host } from '../../src/plugins/host';
import { photoAdded, photoDeleted } from './domain-events';
import { invalidCrop, PHOTO_KIND, photoModel, photoNotFound, unknownPhoto } from './model';
import {
  type CreatePhoto,
  cropFault,
  cropOf,
  type CropPhoto,
  photo,
  type PhotoDocument,
  type PhotoListQuery,
  type PhotoView,
  type UpdatePhoto,
  viewOf,
} from './schema';

/** Metadata of photos. */
export class PhotoService {
  readonly #model;
  readonly #photos;

  constructor(host: Host) {
    this.#model = host.model(photoModel);
    this.#photos = new Resource(photo, this.#model, photoNotFound);
  }

  /** @throws ApiError plant_not_found unless the plant is the account's */
  async create(tx: Transaction, body: CreatePhoto): Promise<PhotoView> {
    const created = await this.#photos.create(tx, body);
    if (body.plantId !== undefined) await tx.emit(photoAdded, { plantId: body.plantId });
    return viewOf(created);
  }

  /** One page of an account's photos, or of one plant's, newest first. @throws ApiError invalid_cursor */
  async list(userId: string, query: PhotoListQuery): Promise<Page<PhotoView>> {
    const { sort, plantId, limit, cursor } = query;
    // Cursors of earlier releases name no order.
    const order = sort === 'createdAt' ? [] : [sort];
    const identity = [userId, '/api/photos', plantId?.toLowerCase(), ...order] as const;
    const after = cursor === undefined ? undefined : decodeCursor(identity, cursor);
    const filter = {
      ...(plantId === undefined ? {} : { plantId }),
      ...inRange(sort, { after, hasUndated: sort === 'takenAt' }),
    };
    const found = await this.#model
      .find(filter)
      .of({ userId })
      .sort(newestFirst(sort))
      .limit(limit + 1)
      .lean();
    return pageOf(
      { found, limit },
      async function* (photos) {
        yield Array.from(photos, viewOf);
      },
      ({ [sort]: moment, _id }) => encodeCursor(identity, { moment: moment ?? null, id: _id }),
    );
  }

  /**
   * Deletes a photo for good. Events keep their references, since there may be any number of them; lists
   * leave out photos that do not exist.
   *
   * @throws ApiError photo_not_found
   */
  async delete(tx: Transaction, id: string): Promise<void> {
    const { imagehostPublicId } = await this.#photos.delete(tx, id);
    await tx.emit(photoDeleted, { photoId: id, imagehostPublicId });
  }

  /** @throws ApiError photo_not_found */
  async get(tenant: Tenant, id: string): Promise<PhotoView> {
    return viewOf(await this.#photos.get(tenant, id));
  }

  /** @throws ApiError photo_not_found, validation_error, invalid_crop (docs/specification.md, 2.9) */
  async update(tx: Transaction, id: string, body: UpdatePhoto): Promise<PhotoView> {
    const before = await this.#photos.get(tx, id);
    const { takenAt } = body;
    const crop = cropOf(body);
    const changes = {
      ...photo.toChanges({ ...(takenAt !== undefined && { takenAt }) }),
      ...(crop && cropped(before, crop)),
      updatedAt: updateOf(tx, [viewOf(before)]),
    };
    await this.#model.updateOne({ _id: id }, { $set: changes }).of(tx);
    return viewOf({ ...before, ...changes });
  }

  /** The ids of all photos of an account. */
  async ids(tenant: Tenant): Promise<Set<string>> {
    const ids = await this.#model.find().of(tenant).distinct('_id');
    return new Set(ids.map(idText));
  }

  /** The photos of a plant, or those without one, after the first ones, a batch at a time, in the order of the list. */
  ofPlant(tenant: Tenant, plantId: StoredId | null, skipped = 0): AsyncGenerator<PhotoDocument[]> {
    const found = this.#model.find({ plantId }).of(tenant).sort(newestFirst('createdAt'));
    return batchesOf<PhotoDocument>(found.skip(skipped));
  }

  /** Photos of an account by the text of their ids; ids without a photo are left out. */
  async byIds(tenant: Tenant, ids: readonly StoredId[]): Promise<Map<string, PhotoView>> {
    if (ids.length === 0) return new Map();
    const found = await this.#photos.some(tenant, ids);
    return new Map(found.map((document) => [idText(document._id), viewOf(document)]));
  }

  /**
   * The photos that a request names.
   *
   * @param field the field of the request, for the message
   * @throws ApiError photo_not_found with status 400 unless all are the account's
   */
  async requireOwn(tenant: Tenant, ids: readonly string[], field: string): Promise<PhotoView[]> {
    const found = await this.byIds(tenant, ids.map(toStoredId));
    return ids.map((id) => {
      const view = found.get(id.toLowerCase());
      if (view) return view;
      throw unknownPhoto.error(`${field} names a photo that is not yours: ${id}.`);
    });
  }

  /**
   * The photos that a request names for a plant; those without a plant become its photos.
   *
   * @throws ApiError as {@link requireOwn}
   */
  async showIn(
    tx: Transaction,
    plantId: string,
    ids: readonly string[],
    field: string,
  ): Promise<PhotoView[]> {
    const photos = await this.requireOwn(tx, ids, field);
    if (photos.every((each) => each.plantId !== null)) return photos;
    await this.claim(tx, plantId, ids.map(toStoredId));
    return photos.map((each) => ({ ...each, plantId: each.plantId ?? plantId }));
  }

  /** Gives those of some photos that have no plant to a plant. */
  async claim(tx: Transaction, plantId: string, ids: readonly StoredId[]): Promise<void> {
    const free = { _id: anyOf(ids), plantId: null };
    await this.#model.updateMany(free, { $set: { plantId } }).of(tx);
  }

  /** Keeps the photos of a deleted plant, without a plant (docs/api.md, "Plants"). */
  async detachPlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#model.updateMany({ plantId }, { $set: { plantId: null } }).of(tx);
  }

  /** Inserts many photos at once; some may have been deleted before. */
  async insertBulk(tx: Transaction, documents: readonly PhotoDocument[]): Promise<void> {
    const ids = documents.map(({ _id }) => _id);
    await forgetDeletions(tx, this.#model.db, PHOTO_KIND, ids);
    await insert(this.#model, tx, documents);
  }
}

/** @throws ApiError invalid_crop */
function cropped(image: PhotoDocument, crop: CropPhoto) {
  const fault = cropFault(image, crop);
  if (fault !== undefined) throw invalidCrop.error(fault);
  const { x, y, width, height } = crop;
  return { cropX: x, cropY: y, cropWidth: width, cropHeight: height };
}
