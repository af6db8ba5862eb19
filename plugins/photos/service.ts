import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import { asUuid, idText, newId, type StoredId, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import { invalidCrop, photoNotFound, unknownPhoto } from './errors';
import { photoModel, type PhotoDocument } from './model';
import type { CreatePhoto, CropPhoto, PhotoView } from './schema';

declare module '../../src/data/transaction' {
  interface DomainEvents {
    /** A photo is about to be kept; a listener that knows better about `plantId` throws. */
    'photo.adding': { plantId: string | null };
  }
}

/** How far from square a crop may be, in pixels (section 2.9). */
const SQUARE_TOLERANCE = 2;

const QUOTA = 'photos';

export class PhotoService {
  readonly #photos;
  readonly #reads;

  constructor(private readonly host: Host) {
    this.#photos = host.model(photoModel);
    this.#reads = host.collection(photoModel);
  }

  async create(tx: Transaction, photo: CreatePhoto, _id = newId()): Promise<PhotoView> {
    const { plantId = null, ...facts } = photo;
    await tx.emit('photo.adding', { plantId });
    const document: PhotoDocument = {
      _id,
      userId: tx.account.id,
      plantId: plantId === null ? null : toStoredId(plantId),
      ...facts,
      cropX: null,
      cropY: null,
      cropWidth: null,
      cropHeight: null,
      createdAt: tx.now,
    };
    await this.#photos.create([document], { session: tx.session });
    return present(document);
  }

  /** @throws ApiError photo_not_found */
  async get(userId: string, id: string): Promise<PhotoView> {
    const photo = await this.#reads.findOne({ userId, _id: toStoredId(id) });
    if (!photo) throw photoNotFound.error();
    return present(photo);
  }

  /** @throws ApiError photo_not_found, invalid_crop (section 2.9) */
  async crop(tx: Transaction, id: string, crop: CropPhoto): Promise<PhotoView> {
    const scope = { userId: tx.account.id, _id: toStoredId(id) };
    const photo = await this.#photos.findOne(scope).session(tx.session).lean();
    if (!photo) throw photoNotFound.error();
    const { x, y, width, height } = crop;
    if (Math.abs(width - height) > SQUARE_TOLERANCE) {
      throw invalidCrop.error('The width and height of the crop must be within 2 pixels.');
    }
    if (x + width > photo.width) {
      throw invalidCrop.error(`x plus width must not exceed the image's width of ${photo.width}.`);
    }
    if (y + height > photo.height) {
      throw invalidCrop.error(
        `y plus height must not exceed the image's height of ${photo.height}.`,
      );
    }
    const cropped = { cropX: x, cropY: y, cropWidth: width, cropHeight: height };
    await this.#photos.updateOne(scope, { $set: cropped }, { session: tx.session });
    return present({ ...photo, ...cropped });
  }

  /** Photos of an account by their ids; those that are not there are missing from the map. */
  async byIds(
    userId: string,
    ids: readonly StoredId[],
    session?: ClientSession,
  ): Promise<Map<string, PhotoView>> {
    if (ids.length === 0) return new Map();
    const photos = await this.#reads
      .find(
        { userId, _id: { $in: ids.map(asUuid) } },
        { promoteBuffers: true, ...(session ? { session } : {}) },
      )
      .toArray();
    return new Map(photos.map((document) => [idText(document._id), present(document)]));
  }

  /**
   * The photos that a request names.
   *
   * @param field the field that names them, for the message
   * @throws ApiError photo_not_found with status 400 when one is not the account's own
   */
  async require(tx: Transaction, ids: readonly string[], field: string): Promise<PhotoView[]> {
    const found = await this.byIds(tx.account.id, ids.map(toStoredId), tx.session);
    return ids.map((id) => {
      const photo = found.get(id.toLowerCase());
      if (photo) return photo;
      throw unknownPhoto.error(`${field} names a photo that is not yours: ${id}.`);
    });
  }

  /** After a plant is gone its photos stay, without a plant (decisions.md, "Plants"). */
  async forgetPlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#photos.updateMany(
      { userId: tx.account.id, plantId: toStoredId(plantId) },
      { $set: { plantId: null } },
      { session: tx.session },
    );
  }

  /** Gives photos to a plant. */
  async attach(tx: Transaction, ids: readonly string[], plantId: string): Promise<void> {
    await this.#photos.updateMany(
      { userId: tx.account.id, _id: { $in: ids.map(toStoredId) } },
      { $set: { plantId: toStoredId(plantId) } },
      { session: tx.session },
    );
  }

  /** Whose photos with these ids are, by the ids of those that there are. */
  async owners(ids: readonly string[]): Promise<Map<string, string>> {
    const found = await this.host.acrossAccounts('ids in seeds may be those of others', () =>
      this.#photos
        .find({ _id: { $in: ids.map(toStoredId) } }, { userId: 1 })
        .lean()
        .exec(),
    );
    return new Map(found.map(({ _id, userId }) => [idText(_id), userId]));
  }

  /** How many photos there are, counted one by one. */
  count(tx: Transaction): Promise<number> {
    return this.#photos.countDocuments({ userId: tx.account.id }).session(tx.session);
  }

  /** Keeps many photos at once; how many the tier allows is the caller's care. */
  async insertBulk(tx: Transaction, documents: readonly PhotoDocument[]): Promise<void> {
    await this.#reads.insertMany([...documents], { session: tx.session });
    await tx.addUsage(QUOTA, documents.length);
  }
}

function present(document: PhotoDocument): PhotoView {
  const { _id, plantId, ...facts } = document;
  return { id: idText(_id), ...facts, plantId: plantId === null ? null : idText(plantId) };
}
