import { idText } from '../../../src/core/ids';
import { containing } from '../../../src/core/text/text';
import { yieldToEventLoop } from '../../../src/core/async';
import { chunksOf } from '../../../src/core/values';
import { batchesOf } from '../../../src/data/model/batches';
import { LIVE } from '../../../src/data/model/models';
import { merged } from './merged';
import {
  decodeCursor,
  encodeCursor,
  inRange,
  newestFirst,
  pageOf,
  type Position,
} from '../../../src/data/page';
import { placeOf } from '../../plants';
import type { EventContext } from '../context';
import { LIVE_INDEXES } from '../model';
import type { EventDocument, EventList, FeedQuery } from '../schema';
import { NEWEST_FIRST, presentEvents } from './present';

/** The most events that a search reads for one page. */
const MAX_SEARCHED = 5000;
/** Events that a search fetches at once. */
const SEARCHED_BATCH = 500;
/** Events searched per turn of the event loop, which takes a millisecond with the longest texts. */
const SEARCHED_PER_TURN = 10;
/** The most plants whose events MongoDB merges in order; with more it would sort in memory. */
const MAX_MERGED = 100;

const LAST_LOGGED_FIRST = newestFirst('createdAt');

/** The events of all plants, newest first. */
export class EventFeed {
  readonly #context: EventContext;

  constructor(context: EventContext) {
    this.#context = context;
  }

  /**
   * One page. It may be short although there are more, if it would be too long or a search would read too
   * many events.
   *
   * @throws ApiError invalid_cursor
   */
  async list(userId: string, query: FeedQuery): Promise<EventList> {
    const { limit, cursor, sort, from, to, type, plantId, location, q } = query;
    const place = location === undefined ? undefined : placeOf(location);
    const filters = [from, to, type, plantId?.toLowerCase(), place, q];
    // Cursors of earlier releases name no order.
    const order = sort === 'occurredAt' ? [] : [sort];
    const identity = [userId, '/api/events', ...filters, ...order] as const;
    const after = cursor === undefined ? undefined : decodeCursor(identity, cursor);
    const plantIds = await this.#context.plants.idsInOrder(
      { userId },
      { location, ...(plantId === undefined ? {} : { ids: [plantId] }) },
    );
    const taken =
      sort === 'createdAt'
        ? this.#lastLogged(userId, plantIds, query, after)
        : this.#lastHappened(userId, plantIds, query, after);
    return pageOf(
      { limit, ...(await taken) },
      (found) => presentEvents(this.#context.photos, { userId }, found),
      ({ [sort]: moment, _id }) => encodeCursor(identity, { moment, id: _id }),
    );
  }

  #lastHappened(
    userId: string,
    plantIds: readonly string[],
    { limit, from, to, type, plantId, location, q }: FeedQuery,
    after: Position | undefined,
  ): Promise<Taken> {
    const filter = {
      ...inRange('occurredAt', { from, to, after }),
      ...(type === undefined ? {} : { type }),
    };
    const isOfSome = plantId !== undefined || location !== undefined;
    const events = this.#newestFirst(userId, plantIds, filter, { isOfSome, limit, q });
    return q === undefined
      ? take(events, limit + 1)
      : search(events, limit + 1, hasText(containing(q)));
  }

  /** Reads the events of all plants, and searches them for those that are wanted. */
  #lastLogged(
    userId: string,
    plantIds: readonly string[],
    query: FeedQuery,
    after: Position | undefined,
  ): Promise<Taken> {
    const { limit, from, to, type, plantId, location, q } = query;
    const isNarrowed = [from, to, type, plantId, location, q].some((each) => each !== undefined);
    const found = this.#context.model
      .find({ ...LIVE, ...inRange('createdAt', { after }) })
      .of({ userId })
      .sort(LAST_LOGGED_FIRST)
      .limit(MAX_SEARCHED)
      .hint(LIVE_INDEXES.logged);
    const events = batchesOf<EventDocument>(found, isNarrowed ? SEARCHED_BATCH : limit + 1);
    const ofPlants = new Set(plantIds);
    const isOfText = q === undefined ? () => true : hasText(containing(q));
    return search(merged([events], isBefore), limit + 1, (event) => {
      const { occurredAt } = event;
      const isBetween = (!from || occurredAt >= from) && (!to || occurredAt <= to);
      const isOfType = type === undefined || event.type === type;
      return isBetween && isOfType && ofPlants.has(idText(event.plantId)) && isOfText(event);
    });
  }

  /** @param options.isOfSome whether these are some of all plants, so that indexes by plant are used */
  #newestFirst(
    userId: string,
    plantIds: readonly string[],
    filter: object,
    { isOfSome, limit, q }: { isOfSome: boolean; limit: number; q: string | undefined },
  ): AsyncIterable<EventDocument> {
    const ofType = 'type' in filter;
    const index = isOfSome ? (ofType ? 'plantType' : 'plant') : ofType ? 'type' : 'all';
    const atOnce = isOfSome ? MAX_MERGED : plantIds.length;
    return merged(
      chunksOf(plantIds, atOnce).map((ids) => {
        const ofPlants = { ...LIVE, ...filter, plantId: { $in: ids } };
        const found = this.#context.model.find(ofPlants).of({ userId }).sort(NEWEST_FIRST);
        return batchesOf<EventDocument>(
          found.limit(q === undefined ? limit + 1 : MAX_SEARCHED).hint(LIVE_INDEXES[index]),
          q === undefined ? limit + 1 : SEARCHED_BATCH,
        );
      }),
      isBefore,
    );
  }
}

/** Whether an event comes before another in {@link NEWEST_FIRST}. */
function isBefore(a: EventDocument, b: EventDocument): boolean {
  const apart = b.occurredAt.getTime() - a.occurredAt.getTime();
  return apart === 0 ? idText(a._id) < idText(b._id) : apart < 0;
}

interface Taken {
  found: EventDocument[];
  /** The last event that was searched, if there may be more. */
  searchedTo?: EventDocument;
}

async function take(events: AsyncIterable<EventDocument>, count: number): Promise<Taken> {
  const found: EventDocument[] = [];
  for await (const event of events) if (found.push(event) === count) break;
  return { found };
}

function hasText(isWanted: (text: string) => boolean): (event: EventDocument) => boolean {
  return ({ text }) => isWanted(text ?? '');
}

/** Up to `count` events that are wanted, without reading too many. */
async function search(
  events: AsyncIterable<EventDocument>,
  count: number,
  isWanted: (event: EventDocument) => boolean,
): Promise<Taken> {
  const found: EventDocument[] = [];
  let searched = 0;
  for await (const event of events) {
    searched += 1;
    if (isWanted(event)) found.push(event);
    if (found.length === count) break;
    if (searched === MAX_SEARCHED) return { found, searchedTo: event };
    if (searched % SEARCHED_PER_TURN === 0) await yieldToEventLoop();
  }
  return { found };
}
