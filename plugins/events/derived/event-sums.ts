import type { mongo } from 'mongoose';

import type { DatedMoment } from '../../../src/core/dated-moment';
import { anyOf, type StoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/models';
import type { Tenant } from '../../../src/data/models';
import { projectionOf } from '../../../src/data/record-reader';
import type { Records } from '../../../src/data/records';
import type { EventDocument } from '../schema';

/** How many events of a type a plant has on a day. */
export interface DayCount extends Pick<EventDocument, 'plantId' | 'type' | 'occurredOn'> {
  count: number;
}

/** The last event of a type that a plant has. */
interface LastOfType extends Pick<EventDocument, 'plantId' | 'type'> {
  last: DatedMoment;
}

/** Measurements of a plant that are alike in amount and unit. */
export interface AlikeGrowth extends Pick<EventDocument, 'plantId' | 'growthUnit'> {
  growthAmount: number;
  count: number;
  first: DatedMoment;
  last: DatedMoment;
}

const MOMENT_FIELDS = projectionOf(['occurredAt', 'occurredOn']);
const MOMENT = { at: '$occurredAt', on: '$occurredOn' };

/** What the events of an account that are not deleted add up to, gathered by MongoDB. */
export class EventSums {
  readonly #events: Records<EventDocument, Tenant>;

  constructor(events: Records<EventDocument, Tenant>) {
    this.#events = events;
  }

  /** Counts of days; of all plants unless some are given. */
  byDay(tenant: Tenant, filter: mongo.Filter<EventDocument> = {}): AsyncGenerator<DayCount> {
    return this.#grouped(tenant, filter, ['plantId', 'type', 'occurredOn'], { count: { $sum: 1 } });
  }

  lastByType(tenant: Tenant): AsyncGenerator<LastOfType> {
    return this.#grouped(tenant, {}, ['plantId', 'type'], { last: { $max: MOMENT } });
  }

  /** Measurements; of all plants unless some are given. */
  growth(tenant: Tenant, plantIds?: readonly StoredId[]): AsyncGenerator<AlikeGrowth> {
    const ofPlants = plantIds ? { plantId: anyOf(plantIds) } : {};
    const measured = { ...ofPlants, type: 'growth' as const, growthAmount: { $gt: 0 } };
    return this.#grouped(tenant, measured, ['plantId', 'growthUnit', 'growthAmount'], {
      count: { $sum: 1 },
      first: { $min: MOMENT },
      last: { $max: MOMENT },
    });
  }

  /** The last of some events; of those of one moment, the latest day. */
  async last(tenant: Tenant, filter: mongo.Filter<EventDocument>): Promise<DatedMoment | null> {
    const live = { ...filter, ...LIVE };
    const [last, next] = await this.#events.find(tenant, live, {
      ...{ sort: { occurredAt: -1 }, limit: 2, projection: MOMENT_FIELDS },
    });
    if (!last) return null;
    const { occurredAt: at, occurredOn: on } = last;
    if (next?.occurredAt.getTime() !== at.getTime()) return { at, on };
    const latest = { $group: { _id: null, on: { $max: '$occurredOn' } } };
    const days = this.#events.aggregate<{ on: string }>(tenant, { ...live, occurredAt: at }, [
      latest,
    ]);
    for await (const day of days) return { at, on: day.on };
    return { at, on };
  }

  async *#grouped<Sum extends object>(
    tenant: Tenant,
    filter: mongo.Filter<EventDocument>,
    names: readonly (keyof Sum & keyof EventDocument)[],
    accumulators: object,
  ): AsyncGenerator<Sum> {
    const _id = Object.fromEntries(names.map((name) => [name, `$${name}`]));
    const groups = this.#events.aggregate<{ _id: object }>(tenant, { ...filter, ...LIVE }, [
      { $group: { _id, ...accumulators } },
    ]);
    // The fields of the type are those that it is grouped by, and its accumulators.
    for await (const { _id: alike, ...sums } of groups) yield { ...alike, ...sums } as Sum;
  }
}
