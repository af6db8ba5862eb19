import { anyOf, idText, newId, type StoredId, toStoredId } from '../../src/core/ids';
import { batchesOf } from '../../src/data/model/batches';
import { LIVE, type Tenant } from '../../src/data/model/models';
import { newestFirst } from '../../src/data/page';
import { existing, insert, updateOf } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import type { PhotoView } from '../photos';
import { plantNotFound } from '../plants';
import type { EventContext } from './context';
import type { EventSums } from './derived/event-sums';
import { eventGone, eventNotFound } from './errors';
import { presented, viewOf } from './list/present';
import { careChanged } from './domain-events';
import {
  type CreateEvent,
  event,
  type EventDocument,
  type EventView,
  type UpdateEvent,
} from './schema';
import type { Account, Author } from '../../src/core/identity';
import { calendarOf } from '../../src/core/time';

/** Single events, and bulk inserts for other plugins. */
export class EventService {
  /** Aggregates of events. */
  readonly sums: EventSums;
  readonly #context: EventContext;

  constructor(context: EventContext) {
    this.#context = context;
    this.sums = context.sums;
  }

  /** @throws ApiError plant_not_found, photo_not_found */
  async create(tx: Transaction, plantId: string, body: CreateEvent): Promise<EventView> {
    const { plants, photos, model, care } = this.#context;
    const document = newEvent(tx, plantId, body);
    let shown: PhotoView[] = [];
    if (body.photoIds?.length) {
      // `care.added` would notice only once its update is sent.
      if (!(await plants.exists(tx, plantId))) throw plantNotFound.error();
      shown = await photos.showIn(tx, plantId, body.photoIds, 'photoIds');
    }
    await insert(model, tx, [document]);
    await care.added(tx, [document]);
    return viewOf(document, shown);
  }

  /** @throws ApiError event_not_found */
  async get(tx: Transaction, id: string): Promise<EventView> {
    return this.#present(tx, await this.#requireLive(tx, id));
  }

  /** Changes the given fields, or nothing if none is given. @throws ApiError event_not_found */
  async update(tx: Transaction, id: string, body: UpdateEvent): Promise<EventView> {
    const { photos, model, care } = this.#context;
    const before = await this.#requireLive(tx, id);
    const { occurredAt, photoIds, scheduleId } = body;
    if (photoIds) await photos.showIn(tx, idText(before.plantId), photoIds, 'photoIds');
    if (Object.keys(body).length === 0) return this.#present(tx, before);
    const isMoved = occurredAt && occurredAt.getTime() !== before.occurredAt.getTime();
    const changes = {
      ...event.toChanges(body),
      ...(isMoved && { occurredOn: dayFor(tx.account, occurredAt) }),
      ...(photoIds && { photos: photoReferences(photoIds) }),
      ...(scheduleId && { scheduleId: toStoredId(scheduleId) }),
      updatedAt: updateOf(tx, [before]),
    };
    const after = { ...before, ...changes };
    if (scheduleId === null) delete after.scheduleId;
    const $unset = scheduleId === null ? { $unset: { scheduleId: '' } as const } : {};
    await model.updateOne({ _id: id }, { $set: changes, ...$unset }).of(tx);
    await care.changed(tx, [{ before, after }]);
    return this.#present(tx, after);
  }

  /** Deletes softly (docs/specification.md, 3). @throws ApiError event_not_found */
  async delete(tx: Transaction, id: string): Promise<void> {
    const before = await this.#requireLive(tx, id);
    const { model, care } = this.#context;
    await model.updateOne({ _id: id }, { $set: { deletedAt: tx.now } }).of(tx);
    await care.changed(tx, [{ before }]);
  }

  /**
   * Restores a deleted event; an event that is not deleted stays as it is.
   *
   * @throws ApiError event_not_found, also if its plant was deleted
   */
  async restore(tx: Transaction, id: string): Promise<EventView> {
    const { photos, model, care } = this.#context;
    const found = await model.findOne({ _id: id }).of(tx).lean();
    if (!found || !(await this.#hasPlant(tx, found))) throw eventGone.error();
    if (found.deletedAt === null) return this.#present(tx, found);
    await model.updateOne({ _id: id }, { $set: { deletedAt: null } }).of(tx);
    const restored = { ...found, deletedAt: null };
    const photoIds = found.photos.map(({ photoId }) => photoId);
    if (photoIds.length > 0) await photos.claim(tx, idText(found.plantId), photoIds);
    await care.added(tx, [restored]);
    return this.#present(tx, restored);
  }

  /**
   * Inserts many events at once, out of reach until their plants exist. The caller rebuilds derived data.
   */
  async insertBulk(tx: Transaction, documents: readonly EventDocument[]): Promise<void> {
    await insert(this.#context.model, tx, documents);
  }

  /** Deletes events that {@link insertBulk} inserted, if their plants were not; copies never had them. */
  async removeBulk(tx: Transaction, documents: readonly EventDocument[]): Promise<void> {
    const _id = anyOf(documents.map((each) => each._id));
    await this.#context.model.deleteMany({ _id }).of(tx).setOptions({ tracked: false });
  }

  /** The number of events of some plants, deleted ones included. */
  countOf(tx: Transaction, plantIds: readonly StoredId[]): Promise<number> {
    return this.#context.model
      .countDocuments({ plantId: anyOf(plantIds) })
      .of(tx)
      .exec();
  }

  /** Those of some ids that have an event, deleted ones included. */
  existing(tenant: Tenant, ids: readonly StoredId[]): Promise<Set<string>> {
    return existing(this.#context.model, tenant, ids);
  }

  /** Whether a member logged all events of some ids, deleted ones included. */
  async areBy(tenant: Tenant, ids: readonly StoredId[], member: string): Promise<boolean> {
    const filter = { _id: anyOf(ids), 'by.id': member };
    const theirs = await this.#context.model.countDocuments(filter).of(tenant);
    return theirs === ids.length;
  }

  /**
   * Inserts events of many plants.
   *
   * @param newPlants the plants that are inserted by the same write, with their last care
   */
  async insertWithPlants(
    tx: Transaction,
    documents: readonly EventDocument[],
    newPlants: ReadonlySet<string>,
  ): Promise<void> {
    await this.insertBulk(tx, documents);
    const ofOthers = documents.filter(({ plantId }) => !newPlants.has(idText(plantId)));
    await this.#context.care.record(tx, ofOthers);
    await tx.emit(
      careChanged,
      documents.map((after) => ({ after })),
    );
  }

  /** The events of a plant after the first ones, a batch at a time, in the order of its list. */
  ofPlant(tenant: Tenant, plantId: string, skipped = 0): AsyncGenerator<EventDocument[]> {
    const filter = { ...LIVE, plantId: toStoredId(plantId) };
    const found = this.#context.model.find(filter).of(tenant).sort(newestFirst('occurredAt'));
    return batchesOf<EventDocument>(found.skip(skipped));
  }

  /** Removes a deleted schedule from its events. */
  async removeSchedule(tx: Transaction, scheduleId: string): Promise<void> {
    const ofIt = { scheduleId: toStoredId(scheduleId) };
    await this.#context.model.updateMany(ofIt, { $unset: { scheduleId: '' } }).of(tx);
  }

  #hasPlant(tx: Transaction, { plantId }: EventDocument): Promise<boolean> {
    return this.#context.plants.exists(tx, idText(plantId));
  }

  /** An event exists until it or its plant is deleted. */
  async #requireLive(tx: Transaction, id: string): Promise<EventDocument> {
    const found = await this.#context.model
      .findOne({ ...LIVE, _id: id })
      .of(tx)
      .lean();
    if (found && (await this.#hasPlant(tx, found))) return found;
    throw eventNotFound.error();
  }

  async #present(tx: Transaction, document: EventDocument): Promise<EventView> {
    const [view] = await presented(this.#context.photos, tx, [document]);
    if (view) return view;
    throw new Error('One event was presented as none.');
  }
}

/**
 * The calendar day of an event that is logged or moved now. The event keeps it, even if the time zone of
 * the account changes.
 */
export function dayFor({ timezone }: Account, occurredAt: Date): string {
  return calendarOf(timezone)(occurredAt);
}

/** For whom an event is logged, when, and by whom unless it is the owner. */
type NewlyLogged = Pick<Transaction, 'userId' | 'account' | 'now'> & { by?: Author | undefined };

/**
 * The document of a new event of a plant, which by default happened now. The caller checks that its
 * photos are the account's.
 */
export function newEvent(
  { userId, account, now, by }: NewlyLogged,
  plantId: string,
  body: CreateEvent,
): EventDocument {
  const { occurredAt = now } = body;
  return {
    ...event.toDocument(
      { ...body, occurredAt },
      {
        _id: newId(),
        userId,
        plantId: toStoredId(plantId),
        createdAt: now,
        updatedAt: now,
        occurredOn: dayFor(account, occurredAt),
      },
    ),
    deletedAt: null,
    photos: photoReferences(body.photoIds ?? []),
    ...(body.scheduleId && { scheduleId: toStoredId(body.scheduleId) }),
    ...(by && { by }),
  };
}

/** The references of an event to its photos. */
export function photoReferences(photoIds: readonly string[]): EventDocument['photos'] {
  return photoIds.map((id) => ({ photoId: toStoredId(id) }));
}
