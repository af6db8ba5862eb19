import type { mongo } from 'mongoose';

import { type DatedMoment, DAY_MS } from '../../../src/core/time';
import { anyOf, type StoredId, toStoredId } from '../../../src/core/ids';
import { chunksOf } from '../../../src/core/values';
import { LIVE, type Tenant } from '../../../src/data/model/models';
import type { OwnedModel } from '../../../src/data/model/owner';
import type { Transaction } from '../../../src/data/writing/transaction';
import { EVENT_QUOTA } from '../model';
import type { EventDocument, EventType } from '../schema';

/** The number of events of a plant, type and day. */
export interface DayCount extends Pick<EventDocument, 'plantId' | 'type' | 'occurredOn'> {
  count: number;
}

/** The last event of a plant, type and schedule, or no schedule. */
interface LastOfAlike extends Pick<EventDocument, 'plantId' | 'type' | 'scheduleId'> {
  last: DatedMoment;
}

/** Measurements of a plant with the same amount and unit. */
export interface AlikeGrowth extends Pick<EventDocument, 'plantId' | 'growthUnit'> {
  growthAmount: number;
  count: number;
  first: DatedMoment;
  last: DatedMoment;
}

/** How many events of an account one command aggregates: with more it could take longer than a command may. */
const EVENTS_AT_ONCE = 20_000;
/** Of how many plants it aggregates the events of an account that has more. */
const PLANTS_AT_ONCE = 10;

const MOMENT = { at: '$occurredAt', on: '$occurredOn' };

/** Measurements of a plant and month with the same amount and unit. */
export interface MonthlyGrowth extends Pick<
  AlikeGrowth,
  'plantId' | 'growthUnit' | 'growthAmount'
> {
  /** As `2026-11`. */
  month: string;
  count: number;
}

/** Whose events are aggregated; a transaction tells how many there are. */
type Whose = Tenant & Partial<Pick<Transaction, 'account'>>;

/** Aggregates of the events of an account, without deleted ones. */
export class EventSums {
  readonly #events: OwnedModel<EventDocument>;

  constructor(events: OwnedModel<EventDocument>) {
    this.#events = events;
  }

  /** Counts by day; by default of all plants. */
  byDay(tenant: Whose, plantIds?: readonly StoredId[]): AsyncGenerator<DayCount> {
    const count = { $sum: 1 };
    const alike = ['plantId', 'type', 'occurredOn'] as const;
    return this.#groupedByPlant(tenant, plantIds, {}, alike, { count });
  }

  lastOfAlike(tenant: Whose): AsyncGenerator<LastOfAlike> {
    const last = { $max: MOMENT };
    const alike = ['plantId', 'type', 'scheduleId'] as const;
    return this.#groupedByPlant(tenant, undefined, {}, alike, { last });
  }

  /** Measurements; by default of all plants. */
  growth(tenant: Whose, plantIds?: readonly StoredId[]): AsyncGenerator<AlikeGrowth> {
    const alike = ['plantId', 'growthUnit', 'growthAmount'] as const;
    const measured = { type: 'growth', growthAmount: { $gt: 0 } };
    return this.#groupedByPlant(tenant, plantIds, measured, alike, {
      count: { $sum: 1 },
      first: { $min: MOMENT },
      last: { $max: MOMENT },
    });
  }

  /** Measurements of all plants, or of one, by month, from one day to another, both included. */
  growthByMonth(
    tenant: Tenant,
    first: string,
    last: string,
    plantId?: string,
  ): AsyncGenerator<MonthlyGrowth> {
    const measured = {
      ...(plantId === undefined ? {} : { plantId: toStoredId(plantId) }),
      type: 'growth',
      growthAmount: { $gt: 0 },
      occurredOn: { $gte: first, $lte: last },
      // For the index; no zone is a day from UTC.
      occurredAt: { $gte: new Date(Date.parse(first) - DAY_MS) },
    };
    const month = { $substrBytes: ['$occurredOn', 0, 7] };
    const alike = ['plantId', 'growthUnit', 'growthAmount'] as const;
    return this.#grouped(tenant, measured, alike, { count: { $sum: 1 } }, { month });
  }

  /** The last of some events; of several at the same moment, the one with the latest day. */
  async last(
    tenant: Tenant,
    filter: {
      plantId?: mongo.UUID;
      type?: EventType;
      scheduleId?: mongo.UUID | { $exists: boolean };
    },
  ): Promise<DatedMoment | null> {
    const live = { ...filter, ...LIVE };
    const moments = this.#events.find(live).of(tenant).select(['occurredAt', 'occurredOn']);
    const [last, next] = await moments.sort({ occurredAt: -1 }).limit(2).lean();
    if (!last) return null;
    const { occurredAt: at, occurredOn: on } = last;
    if (next?.occurredAt.getTime() !== at.getTime()) return { at, on };
    const [latest] = await this.#events
      .aggregate<{ on: string }>([
        { $match: { ...live, userId: tenant.userId, occurredAt: at } },
        { $group: { _id: null, on: { $max: '$occurredOn' } } },
      ])
      .session(tenant.session ?? null);
    return { at, on: latest?.on ?? on };
  }

  /** Groups the events of some plants, or of all, a few plants at a time. */
  async *#groupedByPlant<Sum extends { plantId: StoredId }>(
    tenant: Whose,
    plantIds: readonly StoredId[] | undefined,
    filter: object,
    names: readonly (keyof Sum & keyof EventDocument)[],
    accumulators: object,
  ): AsyncGenerator<Sum> {
    const { [EVENT_QUOTA]: count = Infinity } = tenant.account?.usage ?? {};
    if (plantIds === undefined && count <= EVENTS_AT_ONCE) {
      yield* this.#grouped(tenant, filter, names, accumulators);
      return;
    }
    const all = plantIds ?? (await this.#events.distinct('plantId', LIVE).of(tenant));
    for (const some of chunksOf(all, PLANTS_AT_ONCE)) {
      yield* this.#grouped(tenant, { ...filter, plantId: anyOf(some) }, names, accumulators);
    }
  }

  async *#grouped<Sum extends object>(
    { userId, session }: Tenant,
    filter: object,
    names: readonly (keyof Sum & keyof EventDocument)[],
    accumulators: object,
    computed: object = {},
  ): AsyncGenerator<Sum> {
    const fields = Object.fromEntries(names.map((name) => [name, `$${name}`]));
    const _id = { ...fields, ...computed };
    const groups = this.#events
      .aggregate<{ _id: object }>([
        { $match: { ...filter, ...LIVE, userId } },
        { $group: { _id, ...accumulators } },
      ])
      .session(session ?? null);
    // The type has the fields of the group and its accumulators.
    for await (const { _id: alike, ...sums } of groups) yield { ...alike, ...sums } as Sum;
  }
}
