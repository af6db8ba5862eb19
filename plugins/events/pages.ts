import type { mongo } from 'mongoose';

import { asUuid, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import type { PhotoService } from '../photos/service';
import { plantNotFound } from '../plants/errors';
import type { PlantService } from '../plants/service';
import { decodeCursor, encodeCursor } from './cursor';
import { type EventDocument, eventModel } from './model';
import { presentAll } from './presenter';
import type { EventList, EventListQuery, EventView, MonthQuery } from './schema';

/** Newest first, then by id. */
const LIST_ORDER = { occurredAt: -1, _id: 1 } as const;

/** What is read of a plant's events. */
export class EventPages {
  readonly #events: mongo.Collection<EventDocument>;

  constructor(
    host: Host,
    private readonly plants: PlantService,
    private readonly photos: PhotoService,
  ) {
    this.#events = host.collection(eventModel);
  }

  /** One page of a plant's events. @throws ApiError invalid_cursor, plant_not_found */
  async list(userId: string, plantId: string, query: EventListQuery): Promise<EventList> {
    const { limit, cursor } = query;
    const after = cursor === undefined ? undefined : decodeCursor(userId, plantId, cursor);
    const found = await this.#find(
      userId,
      plantId,
      after && {
        occurredAt: { $lte: after.occurredAt },
        $or: [
          { occurredAt: { $lt: after.occurredAt } },
          { occurredAt: after.occurredAt, _id: { $gt: asUuid(after.id) } },
        ],
      },
      limit + 1,
    );
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hasMore = found.length > limit;
    return {
      items: await presentAll(this.photos, userId, page),
      hasMore,
      nextCursor:
        hasMore && last
          ? encodeCursor(userId, plantId, { occurredAt: last.occurredAt, id: last._id })
          : null,
    };
  }

  /** The events between two moments, both included. @throws ApiError plant_not_found */
  async month(userId: string, plantId: string, query: MonthQuery): Promise<EventView[]> {
    const occurredAt = { $gte: new Date(query.monthStart), $lte: new Date(query.monthEnd) };
    const found = await this.#find(userId, plantId, { occurredAt });
    return presentAll(this.photos, userId, found);
  }

  async #find(
    userId: string,
    plantId: string,
    range: mongo.Filter<EventDocument> = {},
    limit = 0,
  ): Promise<EventDocument[]> {
    const live = { userId, plantId: toStoredId(plantId), deletedAt: null };
    const [isThere, found] = await Promise.all([
      this.plants.exists(userId, plantId),
      this.#events
        .find({ ...live, ...range }, { promoteBuffers: true })
        .sort(LIST_ORDER)
        .limit(limit)
        .toArray(),
    ]);
    if (!isThere) throw plantNotFound.error();
    return found;
  }
}
