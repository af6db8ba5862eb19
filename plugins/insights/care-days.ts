import type { ClientSession } from 'mongoose';

import type { DomainEvents, Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/manifest';
import type { CareFacts } from '../events/facts';
import type { EventType } from '../events/schema';
import { calendarOf } from './calendar';
import { careMonthModel } from './model';

/** Events by day (`YYYY-MM-DD`) and type. */
export class DayCounts {
  readonly days = new Map<string, Map<EventType, number>>();

  add(day: string, type: EventType, by = 1): void {
    let types = this.days.get(day);
    if (!types) this.days.set(day, (types = new Map<EventType, number>()));
    const count = (types.get(type) ?? 0) + by;
    if (count === 0) types.delete(type);
    else types.set(type, count);
  }

  /** Every day and type with its count, by day, then type; those without events are not there. */
  entries(): { date: string; type: EventType; count: number }[] {
    return [...this.days]
      .flatMap(([date, types]) => [...types].map(([type, count]) => ({ date, type, count })))
      .sort((a, b) => compare(a.date, b.date) || compare(a.type, b.type));
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How many events an account has on each day, in its time zone: kept up as events come and go. */
export class CareDays {
  readonly #months;

  constructor(host: Host) {
    this.#months = host.model(careMonthModel);
  }

  async read(userId: string, session: ClientSession): Promise<DayCounts> {
    const counts = new DayCounts();
    const months = await this.#months.find({ userId }).session(session).lean();
    for (const { month, days } of months) {
      for (const [day, types] of Object.entries(days)) {
        for (const [type, count] of Object.entries(types)) {
          // The keys are the event types that `TypeCounts` names.
          counts.add(`${month}-${day}`, type as EventType, count);
        }
      }
    }
    return counts;
  }

  /** Counts events that came, went or moved. */
  async apply(tx: Transaction, changes: DomainEvents['care.changed']['changes']): Promise<void> {
    const dayOf = calendarOf(tx.account.timezone);
    const moved = new DayCounts();
    for (const { before, after } of changes) {
      if (before) moved.add(dayOf(before.occurredAt), before.type, -1);
      if (after) moved.add(dayOf(after.occurredAt), after.type, 1);
    }
    await this.#increment(tx, moved);
  }

  /** Counts anew from all events, in a time zone; writes what differs and says each difference. */
  async rebuild(
    tx: Transaction,
    facts: AsyncIterable<CareFacts>,
    timezone: string,
  ): Promise<string[]> {
    const dayOf = calendarOf(timezone);
    const wanted = new DayCounts();
    for await (const { occurredAt, type } of facts) wanted.add(dayOf(occurredAt), type);
    const correction = new DayCounts();
    const stored = await this.read(tx.account.id, tx.session);
    for (const { date, type, count } of wanted.entries()) correction.add(date, type, count);
    for (const { date, type, count } of stored.entries()) correction.add(date, type, -count);
    await this.#increment(tx, correction);
    return correction.entries().map(({ date, type, count }) => {
      const should = wanted.days.get(date)?.get(type) ?? 0;
      return `events of type ${type} on ${date}: ${should - count} should be ${should}`;
    });
  }

  async #increment(tx: Transaction, by: DayCounts): Promise<void> {
    const months = new Map<string, Record<string, number>>();
    for (const { date, type, count } of by.entries()) {
      const month = date.slice(0, 7);
      const increments = months.get(month) ?? {};
      increments[`days.${date.slice(8)}.${type}`] = count;
      months.set(month, increments);
    }
    if (months.size === 0) return;
    await this.#months.bulkWrite(
      [...months].map(([month, $inc]) => ({
        updateOne: { filter: { userId: tx.account.id, month }, update: { $inc }, upsert: true },
      })),
      { session: tx.session },
    );
  }
}
