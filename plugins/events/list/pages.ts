import type { mongo } from 'mongoose';

import { asUuid, toStoredId } from '../../../src/core/ids';
import { firstOfPage } from '../../../src/core/json-array';
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
  readonly #plants: Plants;
  readonly #photos: Photos;

  constructor(host: Host, plants: Plants, photos: Photos) {
    this.#plants = plants;
    this.#photos = photos;
    this.#events = host.records(eventModel);
  }

  /**
   * One page of a plant's events; it ends early where it would be too long.
   *
   * @throws ApiError invalid_cursor, plant_not_found
   */
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
    const items = await firstOfPage(presentEvents(this.#photos, { userId }, found.slice(0, limit)));
    const last = found[items.length - 1];
    const hasMore = found.length > items.length;
    return {
      items,
      hasMore,
      nextCursor:
        hasMore && last
          ? encodeCursor(userId, plantId, { occurredAt: last.occurredAt, id: last._id })
          : null,
    };
  }

  /** The events between two moments, both included. @throws ApiError plant_not_found */
  async month(
    userId: string,
    plantId: string,
    query: MonthQuery,
  ): Promise<AsyncIterable<EventView[]>> {
    if (!(await this.#plants.exists({ userId }, plantId))) throw plantNotFound.error();
    return this.#between(userId, plantId, query);
  }

  async *#between(
    userId: string,
    plantId: string,
    { monthStart, monthEnd }: MonthQuery,
  ): AsyncGenerator<EventView[]> {
    const occurredAt = { $gte: new Date(monthStart), $lte: new Date(monthEnd) };
    const filter = { ...liveOf(plantId), occurredAt };
    for await (const batch of this.#events.batches({ userId }, filter, { sort: LIST_ORDER })) {
      yield* presentEvents(this.#photos, { userId }, batch);
    }
  }

  async #find(
    userId: string,
    plantId: string,
    range: mongo.Filter<EventDocument> | undefined,
    limit: number,
  ): Promise<EventDocument[]> {
    const [isThere, found] = await Promise.all([
      this.#plants.exists({ userId }, plantId),
      this.#events.find({ userId }, { ...liveOf(plantId), ...range }, { sort: LIST_ORDER, limit }),
    ]);
    if (!isThere) throw plantNotFound.error();
    return found;
  }
}

function liveOf(plantId: string) {
  return { plantId: toStoredId(plantId), deletedAt: null };
}
