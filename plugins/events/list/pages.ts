import { batchesOf } from '../../../src/data/model/batches';
import { LIVE } from '../../../src/data/model/models';
import { decodeCursor, encodeCursor, inRange, pageOf, type Range } from '../../../src/data/page';
import type { PageQuery } from '../../../src/fields/page';
import { plantNotFound } from '../../plants';
import type { EventContext } from '../context';
import { LIVE_INDEXES } from '../model';
import type { EventDocument, EventList, EventView, MonthQuery } from '../schema';
import { NEWEST_FIRST, presentEvents } from './present';

/** Lists of a plant's events. */
export class EventPages {
  readonly #context: EventContext;

  constructor(context: EventContext) {
    this.#context = context;
  }

  /**
   * One page of a plant's events, or of those between two moments, both included; it ends early if it
   * would be too long.
   *
   * @throws ApiError invalid_cursor, plant_not_found
   */
  async list(
    userId: string,
    plantId: string,
    { limit, cursor }: PageQuery,
    month?: MonthQuery,
  ): Promise<EventList> {
    const between = month ? [month.monthStart, month.monthEnd] : [];
    const identity = [userId, plantId, ...between] as const;
    const after = cursor === undefined ? undefined : decodeCursor(identity, cursor);
    const range = { ...(month && momentsOf(month)), after };
    const found = await this.#find(userId, plantId, range, limit + 1);
    return pageOf(
      { found, limit },
      (events) => presentEvents(this.#context.photos, { userId }, events),
      ({ occurredAt, _id }) => encodeCursor(identity, { moment: occurredAt, id: _id }),
    );
  }

  /** The events between two moments, both included. @throws ApiError plant_not_found */
  async month(
    userId: string,
    plantId: string,
    query: MonthQuery,
  ): Promise<AsyncIterable<EventView[]>> {
    if (!(await this.#context.plants.exists({ userId }, plantId))) throw plantNotFound.error();
    return this.#between(userId, liveOf(plantId), query);
  }

  /** The same for all plants. */
  async *monthOfAll(userId: string, query: MonthQuery): AsyncGenerator<EventView[]> {
    const plantIds = await this.#context.plants.idsInOrder({ userId }, {});
    const ofPlants = { ...LIVE, plantId: { $in: plantIds } };
    yield* this.#between(userId, ofPlants, query, { hint: LIVE_INDEXES.all });
  }

  async *#between(
    userId: string,
    ofPlants: object,
    month: MonthQuery,
    options: { hint?: typeof LIVE_INDEXES.all } = {},
  ): AsyncGenerator<EventView[]> {
    const filter = { ...ofPlants, ...inRange('occurredAt', momentsOf(month)) };
    const found = this.#context.model.find(filter, null, options);
    for await (const batch of batchesOf<EventDocument>(found.of({ userId }).sort(NEWEST_FIRST))) {
      yield* presentEvents(this.#context.photos, { userId }, batch);
    }
  }

  async #find(
    userId: string,
    plantId: string,
    range: Range,
    limit: number,
  ): Promise<EventDocument[]> {
    const filter = { ...liveOf(plantId), ...inRange('occurredAt', range) };
    const [isThere, found] = await Promise.all([
      this.#context.plants.exists({ userId }, plantId),
      this.#context.model.find(filter).of({ userId }).sort(NEWEST_FIRST).limit(limit).lean(),
    ]);
    if (!isThere) throw plantNotFound.error();
    return found;
  }
}

function liveOf(plantId: string) {
  return { ...LIVE, plantId };
}

function momentsOf({ monthStart, monthEnd }: MonthQuery): Range {
  return { from: new Date(monthStart), to: new Date(monthEnd) };
}
