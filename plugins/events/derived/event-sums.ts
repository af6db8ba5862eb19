import type { mongo } from 'mongoose';

import type { DatedMoment } from '../../../src/core/dated-moment';
import { anyOf, type StoredId } from '../../../src/core/ids';
import { DAY_MS } from '../../../src/core/time';
import { LIVE, type Tenant } from '../../../src/data/model/models';
import type { OwnedModel } from '../../../src/data/model/owner';
import type { EventDocument, EventType } from '../schema';

/** How many events of a type a plant has on a day. */
export interface DayCount extends Pick<EventDocument, 'plantId' | 'type' | 'occurredOn'> {
  count: number;
}

/** The last event of those of a plant, a type and a schedule, or no schedule. */
interface LastOfAlike extends Pick<EventDocument, 'plantId' | 'type' | 'scheduleId'> {
  last: DatedMoment;
}

/** Measurements of a plant that are alike in amount and unit. */
export interface AlikeGrowth extends Pick<EventDocument, 'plantId' | 'growthUnit'> {
  growthAmount: number;
  count: number;
  first: DatedMoment;
  last: DatedMoment;
}

const MOMENT = { at: '$occurredAt', on: '$occurredOn' };

/** Measurements of a plant and a month that are alike in amount and unit. */
export interface MonthlyGrowth extends Pick<
  AlikeGrowth,
  'plantId' | 'growthUnit' | 'growthAmount'
> {
  /** As `2026-11`. */
  month: string;
  count: number;
}

/** What the events of an account that are not deleted add up to, gathered by MongoDB. */
export class EventSums {
  readonly #events: OwnedModel<EventDocument>;

  constructor(events: OwnedModel<EventDocument>) {
    this.#events = events;
  }

  /** Counts of days; of all plants unless some are given. */
  byDay(tenant: Tenant, plantIds?: readonly StoredId[]): AsyncGenerator<DayCount> {
    const count = { $sum: 1 };
    return this.#grouped(tenant, of(plantIds), ['plantId', 'type', 'occurredOn'], { count });
  }

  lastOfAlike(tenant: Tenant): AsyncGenerator<LastOfAlike> {
    const last = { $max: MOMENT };
    return this.#grouped(tenant, {}, ['plantId', 'type', 'scheduleId'], { last });
  }

  /** Measurements; of all plants unless some are given. */
  growth(tenant: Tenant, plantIds?: readonly StoredId[]): AsyncGenerator<AlikeGrowth> {
    const measured = { ...of(plantIds), type: 'growth', growthAmount: { $gt: 0 } };
    return this.#grouped(tenant, measured, ['plantId', 'growthUnit', 'growthAmount'], {
      count: { $sum: 1 },
      first: { $min: MOMENT },
      last: { $max: MOMENT },
    });
  }

  /** Measurements of the days between two, both included, by month. */
  growthByMonth(tenant: Tenant, first: string, last: string): AsyncGenerator<MonthlyGrowth> {
    const measured = {
      ...{ type: 'growth', growthAmount: { $gt: 0 } },
      occurredOn: { $gte: first, $lte: last },
      // By the index; no zone is as far from UTC as a day.
      occurredAt: { $gte: new Date(Date.parse(first) - DAY_MS) },
    };
    const month = { $substrBytes: ['$occurredOn', 0, 7] };
    const alike = ['plantId', 'growthUnit', 'growthAmount'] as const;
    return this.#grouped(tenant, measured, alike, { count: { $sum: 1 } }, { month });
  }

  /** The last of some events; of those of one moment, the latest day. */
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
    // The fields of the type are those that it is grouped by, and its accumulators.
    for await (const { _id: alike, ...sums } of groups) yield { ...alike, ...sums } as Sum;
  }
}

function of(plantIds: readonly StoredId[] | undefined): object {
  return plantIds ? { plantId: anyOf(plantIds) } : {};
}
