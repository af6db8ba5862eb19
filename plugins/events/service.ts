import type { DatedMoment } from '../../src/core/dated-moment';
import { anyOf, asUuid, idText, toStoredId } from '../../src/core/ids';
import { HOUR_MS } from '../../src/core/time';
import { LIVE } from '../../src/data/models';
import type { Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/host';
import type { Photos } from '../photos';
import { plantNotFound, type Plants } from '../plants';
import { CareChanges } from './derived/care-changes';
import { EventSums } from './derived/event-sums';
import { careChanged } from './domain-events';
import { eventGone, eventNotFound } from './errors';
import { presented } from './list/present';
import { eventModel } from './model';
import { dayFor, newEvent, photoReferences } from './new-event';
import {
  type CreateEvent,
  event,
  type EventDocument,
  type EventView,
  type GrowthUnit,
  MAX_HOURS_AHEAD,
  type UpdateEvent,
} from './schema';

/** What is done with events, and what their totals are made of. */
export class EventService {
  /** What events add up to. */
  readonly sums: EventSums;
  readonly #events;
  readonly #plants: Plants;
  readonly #photos: Photos;
  readonly #changes: CareChanges;

  constructor(host: Host, plants: Plants, photos: Photos) {
    this.#plants = plants;
    this.#photos = photos;
    this.#events = host.records(eventModel);
    this.sums = new EventSums(this.#events);
    this.#changes = new CareChanges(this.#events, plants);
  }

  /** @throws ApiError plant_not_found, photo_not_found */
  async create(tx: Transaction, plantId: string, body: CreateEvent): Promise<EventView> {
    const document = newEvent(tx, plantId, body);
    await this.#plants.care.record(tx, [plantId], document);
    // Said before a photo that is not there; `record` knows it only once its update is sent.
    if (body.photoIds?.length && !(await this.#plants.exists(tx, plantId))) {
      throw plantNotFound.error();
    }
    const photos = await this.#photos.showIn(tx, plantId, body.photoIds ?? [], 'photoIds');
    await this.#events.insert(tx, document);
    await this.#changes.emitAdded(tx, [document]);
    return { ...event.toView(document), photos };
  }

  /** @throws ApiError event_not_found */
  async get(tx: Transaction, id: string): Promise<EventView> {
    return this.#present(tx, await this.#requireLive(tx, id));
  }

  /** Changes the fields given; none given changes nothing. @throws ApiError event_not_found */
  async update(tx: Transaction, id: string, body: UpdateEvent): Promise<EventView> {
    const before = await this.#requireLive(tx, id);
    const plantId = idText(before.plantId);
    if (body.photoIds) await this.#photos.showIn(tx, plantId, body.photoIds, 'photoIds');
    if (Object.keys(body).length === 0) return this.#present(tx, before);
    const { occurredAt } = body;
    const isMoved = occurredAt && occurredAt.getTime() !== before.occurredAt.getTime();
    const changes: Partial<EventDocument> = {
      ...event.toChanges(body),
      ...(isMoved && { occurredOn: dayFor(tx.account, occurredAt) }),
      ...(body.photoIds && { photos: photoReferences(body.photoIds) }),
      updatedAt: tx.now,
    };
    await this.#events.updateOne(tx, { _id: asUuid(before._id) }, { $set: changes });
    const after = { ...before, ...changes };
    await this.#changes.changed(tx, [{ before, after }]);
    return this.#present(tx, after);
  }

  /** Deletes softly (docs/specification.md, 3). @throws ApiError event_not_found */
  async delete(tx: Transaction, id: string): Promise<void> {
    const before = await this.#requireLive(tx, id);
    await this.#events.softDelete(tx, { _id: asUuid(before._id) });
    await this.#changes.changed(tx, [{ before }]);
  }

  /**
   * Brings a deleted event back; one that is not deleted stays as it is.
   *
   * @throws ApiError event_not_found also where its plant is gone
   */
  async restore(tx: Transaction, id: string): Promise<EventView> {
    const found = await this.#events.findOne(tx, { _id: toStoredId(id) });
    if (!found || !(await this.#plants.exists(tx, idText(found.plantId)))) {
      throw eventGone.error();
    }
    if (found.deletedAt === null) return this.#present(tx, found);
    const restored = { ...found, deletedAt: null };
    await this.#events.restore(tx, { _id: asUuid(found._id) });
    const photoIds = found.photos.map(({ photoId }) => photoId);
    if (photoIds.length > 0) await this.#photos.claim(tx, idText(found.plantId), photoIds);
    await this.#changes.added(tx, [restored]);
    return this.#present(tx, restored);
  }

  /** When a plant's growth was first and last measured in a unit. */
  async growthSpan(
    tx: Transaction,
    plantId: string,
    unit: GrowthUnit | null,
  ): Promise<{ first: DatedMoment; last: DatedMoment } | undefined> {
    const measured = {
      plantId: toStoredId(plantId),
      type: 'growth' as const,
      growthUnit: unit,
      growthAmount: { $gt: 0 },
    };
    const first = await this.sums.edge(tx, measured, 'first');
    const last = await this.sums.edge(tx, measured, 'last');
    return first && last ? { first, last } : undefined;
  }

  /** How many events of an account lie further ahead than one can be logged. */
  countAhead(userId: string): Promise<number> {
    const latest = new Date(Date.now() + MAX_HOURS_AHEAD * HOUR_MS);
    return this.#events.count({ userId }, { ...LIVE, occurredAt: { $gt: latest } });
  }

  /** Marks some events of a deleted plant deleted, which stands for them; answers how many. */
  async deleteSome(tx: Transaction, plantId: string, limit: number): Promise<number> {
    const live = { ...LIVE, plantId: toStoredId(plantId) };
    const events = await this.#events.find(tx, live, { limit });
    if (events.length === 0) return 0;
    const ids = anyOf(events.map(({ _id }) => _id));
    await this.#events.softDelete(tx, { _id: ids }, { isShown: false });
    await tx.emit(careChanged, { plantId, changes: events.map((before) => ({ before })) });
    return events.length;
  }

  /**
   * Inserts many events at once, out of reach as long as their plants are not there; the caller
   * rebuilds what derives from them.
   */
  async insertBulk(tx: Transaction, documents: readonly EventDocument[]): Promise<void> {
    await this.#events.insertBulk(tx, documents);
  }

  /** An event lives as long as it is not deleted and its plant is there. */
  async #requireLive(tx: Transaction, id: string): Promise<EventDocument> {
    const found = await this.#events.findOne(tx, { ...LIVE, _id: toStoredId(id) });
    if (found && (await this.#plants.exists(tx, idText(found.plantId)))) return found;
    throw eventNotFound.error();
  }

  async #present(tx: Transaction, document: EventDocument): Promise<EventView> {
    const [view] = await presented(this.#photos, tx, [document]);
    if (view) return view;
    throw new Error('One event was presented as none.');
  }
}
