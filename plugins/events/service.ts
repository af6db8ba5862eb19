import type { ClientSession, mongo } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import { asUuid, idText, newId, type StoredId, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import { plantNotFound } from '../plants/errors';
import type { PlantService } from '../plants/service';
import type { PhotoService } from '../photos/service';
import { eventNotFound } from './errors';
import { type CareFacts, factsOf } from './facts';
import { type EventDocument, eventModel } from './model';
import { present, presentAll } from './presenter';
import type { CreateEvent, EventType, EventView, GrowthUnit, UpdateEvent } from './schema';

declare module '../../src/data/transaction' {
  interface DomainEvents {
    /** Events of one plant came (`after` alone), went (`before` alone) or changed (both). */
    'care.changed': {
      plantId: string;
      changes: readonly { before?: CareFacts; after?: CareFacts }[];
    };
  }
}

/** What is done with events, and what their totals are made of. */
export class EventService {
  readonly #events;
  readonly #reads: mongo.Collection<EventDocument>;

  constructor(
    host: Host,
    private readonly plants: PlantService,
    private readonly photos: PhotoService,
  ) {
    this.#events = host.model(eventModel);
    this.#reads = host.collection(eventModel);
  }

  /** @throws ApiError plant_not_found, photo_not_found */
  async create(tx: Transaction, plantId: string, event: CreateEvent): Promise<EventView> {
    const { occurredAt = tx.now } = event;
    const noted = await this.plants.noteCare(tx, plantId, {
      lastEvent: occurredAt,
      ...(event.type === 'watered' ? { lastWatered: occurredAt } : {}),
    });
    if (!noted) throw plantNotFound.error();
    const photos = await this.photos.require(tx, event.photoIds ?? [], 'photoIds');
    const document: EventDocument = {
      _id: newId(),
      userId: tx.account.id,
      plantId: toStoredId(plantId),
      type: event.type,
      text: event.text ?? null,
      growthAmount: event.growthAmount ?? null,
      growthUnit: event.growthUnit ?? null,
      occurredAt,
      createdAt: tx.now,
      updatedAt: tx.now,
      deletedAt: null,
      photos: photos.map((photo) => ({ photoId: toStoredId(photo.id) })),
    };
    await this.#events.create([document], { session: tx.session });
    await tx.emit('care.changed', { plantId, changes: [{ after: document }] });
    return present(document, photos);
  }

  /** Changes the fields given; none given changes nothing. @throws ApiError event_not_found */
  async update(tx: Transaction, id: string, changes: UpdateEvent): Promise<EventView> {
    const before = await this.#requireLive(tx, id);
    const { photoIds, ...facts } = changes;
    const photos = photoIds && (await this.photos.require(tx, photoIds, 'photoIds'));
    if (Object.keys(changes).length > 0) {
      const set: Partial<EventDocument> = {
        ...facts,
        ...(photos && { photos: photos.map((photo) => ({ photoId: toStoredId(photo.id) })) }),
        updatedAt: tx.now,
      };
      await this.#set(tx, [before], set);
      const after = { ...before, ...set };
      await this.#changed(tx, before, after);
      return this.#present(tx, after);
    }
    return this.#present(tx, before);
  }

  /** Deletes softly (section 3). @throws ApiError event_not_found */
  async remove(tx: Transaction, id: string): Promise<void> {
    const event = await this.#requireLive(tx, id);
    await this.#set(tx, [event], { deletedAt: tx.now });
    await this.#changed(tx, event);
  }

  /** The first and last moment at which a plant's growth was measured in a unit. */
  async growthSpan(
    tx: Transaction,
    plantId: string,
    unit: GrowthUnit | null,
  ): Promise<{ firstAt: Date; lastAt: Date } | undefined> {
    const measured = {
      userId: tx.account.id,
      plantId: toStoredId(plantId),
      type: 'growth' as const,
      deletedAt: null,
      growthUnit: unit,
      growthAmount: { $gt: 0 },
    };
    const edge = (direction: 1 | -1) =>
      this.#reads.findOne(measured, { session: tx.session, sort: { occurredAt: direction } });
    const first = await edge(1);
    const last = await edge(-1);
    return first && last ? { firstAt: first.occurredAt, lastAt: last.occurredAt } : undefined;
  }

  /** What counts of an account's events that are not deleted: all, or some plants' or of a type. */
  facts(
    userId: string,
    session: ClientSession,
    { plantIds, type }: { plantIds?: readonly StoredId[]; type?: EventType } = {},
  ): AsyncIterable<CareFacts & { plantId: StoredId }> {
    const filter = {
      userId,
      deletedAt: null,
      ...(plantIds ? { plantId: { $in: plantIds.map(asUuid) } } : {}),
      ...(type ? { type } : {}),
    };
    return factsOf(this.#reads, filter, session);
  }

  /** Marks some events of a removed plant deleted; answers how many. */
  async removeSome(tx: Transaction, plantId: string, atMost: number): Promise<number> {
    const scope = { userId: tx.account.id, plantId: toStoredId(plantId), deletedAt: null };
    const events = await this.#reads
      .find(scope, { session: tx.session, promoteBuffers: true })
      .limit(atMost)
      .toArray();
    if (events.length === 0) return 0;
    await this.#set(tx, events, { deletedAt: tx.now });
    await tx.emit('care.changed', { plantId, changes: events.map((before) => ({ before })) });
    return events.length;
  }

  /** Keeps many events at once; what follows from them is the caller's care. */
  async insertBulk(documents: readonly EventDocument[]): Promise<void> {
    await this.#reads.insertMany([...documents], { ordered: false });
  }

  /** Takes what changed to the plant and to whoever listens. */
  async #changed(tx: Transaction, before: EventDocument, after?: EventDocument): Promise<void> {
    const plantId = idText(before.plantId);
    if (after?.occurredAt.getTime() !== before.occurredAt.getTime()) {
      await this.plants.setLastCare(tx, plantId, {
        lastEvent: await this.#latest(tx, plantId),
        lastWatered: await this.#latest(tx, plantId, 'watered'),
      });
    }
    await tx.emit('care.changed', { plantId, changes: [after ? { before, after } : { before }] });
  }

  async #latest(tx: Transaction, plantId: string, type?: EventType): Promise<Date | null> {
    const latest = await this.#reads.findOne(
      {
        userId: tx.account.id,
        plantId: toStoredId(plantId),
        deletedAt: null,
        ...(type ? { type } : {}),
      },
      { session: tx.session, sort: { occurredAt: -1 }, projection: { occurredAt: 1 } },
    );
    return latest?.occurredAt ?? null;
  }

  async #set(
    tx: Transaction,
    events: readonly EventDocument[],
    set: Partial<EventDocument>,
  ): Promise<void> {
    await this.#events.updateMany(
      { userId: tx.account.id, _id: { $in: events.map((event) => asUuid(event._id)) } },
      { $set: set },
      { session: tx.session },
    );
  }

  /** An event lives as long as it is not deleted and its plant is there. */
  async #requireLive(tx: Transaction, id: string): Promise<EventDocument> {
    const { session, account } = tx;
    const event = await this.#reads.findOne(
      { userId: account.id, _id: toStoredId(id), deletedAt: null },
      { session },
    );
    if (event && (await this.plants.exists(account.id, idText(event.plantId), session))) {
      return event;
    }
    throw eventNotFound.error();
  }

  async #present(tx: Transaction, event: EventDocument): Promise<EventView> {
    const [view] = await presentAll(this.photos, tx.account.id, [event], tx.session);
    if (!view) throw new Error('One event was presented as none.');
    return view;
  }
}
