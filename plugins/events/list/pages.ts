import type { mongo } from 'mongoose';

import { asUuid, toStoredId } from '../../../src/core/ids';
import type { Host } from '../../../src/plugins/host';
import type { Photos } from '../../photos';
import { plantNotFound, type Plants } from '../../plants';
import { eventModel } from '../model';
import type { EventDocument, EventList, EventListQuery, EventView, MonthQuery } from '../schema';
import { decodeCursor, encodeCursor } from './cursor';
import { presentEvents } from './present';

/** Newest first, then by id. */
const LIST_ORDER = { occurredAt: -1, _id: 1 } as const;

/** Lists of a plant's events. */
export class EventPages {
  readonly #events;

  constructor(
    host: Host,
    private readonly plants: Plants,
    private readonly photos: Photos,
  ) {
    this.#events = host.records(eventModel);
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
      items: await presentEvents(this.photos, { userId }, page),
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
    return presentEvents(this.photos, { userId }, found);
  }

  async #find(
    userId: string,
    plantId: string,
    range: mongo.Filter<EventDocument> = {},
    limit = 0,
  ): Promise<EventDocument[]> {
    const live = { plantId: toStoredId(plantId), deletedAt: null };
    const [isThere, found] = await Promise.all([
      this.plants.exists({ userId }, plantId),
      this.#events.find({ userId }, { ...live, ...range }, { sort: LIST_ORDER, limit }),
    ]);
    if (!isThere) throw plantNotFound.error();
    return found;
  }
}
