import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/host';
import type { CareEntry, EventType } from '../events';
import type { CareChange } from '../events/domain-events';
import { calendarOf } from '../../src/core/time';
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
    this.#months = host.records(careMonthModel);
  }

  async read(userId: string, session: ClientSession): Promise<DayCounts> {
    const counts = new DayCounts();
    const months = await this.#months.find({ userId, session });
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
  async apply(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const dayOf = calendarOf(tx.account.timezone);
    const moved = new DayCounts();
    for (const { before, after } of changes) {
      if (before) moved.add(dayOf(before.occurredAt), before.type, -1);
      if (after) moved.add(dayOf(after.occurredAt), after.type, 1);
    }
    await this.#increment(tx, moved);
  }

  /** Recounts all events, in a time zone; writes what differs and answers each difference. */
  async rebuild(
    tx: Transaction,
    entries: AsyncIterable<CareEntry>,
    timezone: string,
  ): Promise<string[]> {
    const dayOf = calendarOf(timezone);
    const wanted = new DayCounts();
    for await (const { occurredAt, type } of entries) wanted.add(dayOf(occurredAt), type);
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
    await this.#months.upsertMany(
      tx,
      [...months].map(([month, $inc]) => ({ filter: { month }, update: { $inc } })),
    );
  }
}
