import type { mongo } from 'mongoose';

import type { DatedMoment } from '../../../src/core/dated-moment';
import { LIVE } from '../../../src/data/models';
import type { AccountScope } from '../../../src/data/models';
import { projectionOf } from '../../../src/data/record-reader';
import type { Records } from '../../../src/data/records';
import type { EventDocument } from '../schema';

/** How many events of a type a plant has on a day. */
export interface DayCount extends Pick<EventDocument, 'plantId' | 'type' | 'occurredOn'> {
  count: number;
}

/** The last event of a type that a plant has. */
export interface LastOfType extends Pick<EventDocument, 'plantId' | 'type'> {
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
  readonly #events: Records<EventDocument, AccountScope>;

  constructor(events: Records<EventDocument, AccountScope>) {
    this.#events = events;
  }

  /** Counts of days; of all plants unless some are given. */
  byDay(scope: AccountScope, filter: mongo.Filter<EventDocument> = {}): AsyncGenerator<DayCount> {
    return this.#grouped(scope, filter, ['plantId', 'type', 'occurredOn'], { count: { $sum: 1 } });
  }

  lastByType(scope: AccountScope): AsyncGenerator<LastOfType> {
    return this.#grouped(scope, {}, ['plantId', 'type'], { last: { $max: MOMENT } });
  }

  growth(scope: AccountScope): AsyncGenerator<AlikeGrowth> {
    const measured = { type: 'growth' as const, growthAmount: { $gt: 0 } };
    return this.#grouped(scope, measured, ['plantId', 'growthUnit', 'growthAmount'], {
      count: { $sum: 1 },
      first: { $min: MOMENT },
      last: { $max: MOMENT },
    });
  }

  /** The first or last of some events; of those of one moment, the day that is furthest out. */
  async edge(
    scope: AccountScope,
    filter: mongo.Filter<EventDocument>,
    end: 'first' | 'last',
  ): Promise<DatedMoment | null> {
    const [edge, next] = await this.#events.find(
      scope,
      { ...filter, ...LIVE },
      { sort: { occurredAt: end === 'first' ? 1 : -1 }, limit: 2, projection: MOMENT_FIELDS },
    );
    if (!edge) return null;
    const { occurredAt: at, occurredOn: on } = edge;
    if (next?.occurredAt.getTime() !== at.getTime()) return { at, on };
    const furthest = { [end === 'first' ? '$min' : '$max']: '$occurredOn' };
    const days = this.#events.aggregate<{ on: string }>(
      scope,
      { ...filter, ...LIVE, occurredAt: at },
      [{ $group: { _id: null, on: furthest } }],
    );
    for await (const day of days) return { at, on: day.on };
    return { at, on };
  }

  async *#grouped<Sum extends object>(
    scope: AccountScope,
    filter: mongo.Filter<EventDocument>,
    names: readonly (keyof Sum & keyof EventDocument)[],
    accumulators: object,
  ): AsyncGenerator<Sum> {
    const _id = Object.fromEntries(names.map((name) => [name, `$${name}`]));
    const groups = this.#events.aggregate<{ _id: object }>(scope, { ...filter, ...LIVE }, [
      { $group: { _id, ...accumulators } },
    ]);
    // The fields of the type are those that it is grouped by, and its accumulators.
    for await (const { _id: alike, ...sums } of groups) yield { ...alike, ...sums } as Sum;
  }
}
