import { dayNumber } from '../../src/core/time';
import type { Tenant } from '../../src/data/model/models';
import { batchesOf } from '../../src/data/model/batches';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { DayCount, EventType } from '../events';
import type { CareChange } from '../events/domain-events';
import { ALL_MONTHS, type CareMonthDocument, careMonthModel } from './model';
import type { InsightsView } from './schema';

/** The fields of a month that count waterings. */
const WATERINGS = [
  'month',
  ...Array.from({ length: 31 }, (_, day) => `days.${String(day + 1).padStart(2, '0')}.watered`),
];

/** Care by day, as insights show it. */
interface CareHistory {
  /** The counts of all days, by weekday. */
  weekdays: CareCount[];
  /** The counts of the requested days. */
  activity: InsightsView['careActivityByDay'];
  /** The numbers of all days with a watering, in order. */
  watered: number[];
}

/** The number of events of each day and type, kept up to date with the events. */
export class CareDays {
  readonly #months;

  constructor(host: Host) {
    this.#months = host.model(careMonthModel);
  }

  /** The history without the events of `deleted`, which are still counted. */
  async read(
    tenant: Tenant,
    { first, last }: { first: string; last: string },
    deleted: CareCounts,
  ): Promise<CareHistory> {
    const left = (stored: CareMonthDocument): CareCount[] =>
      countsOf(stored)
        .map((each) => ({ ...each, count: each.count - deleted.of(each) }))
        .filter(({ count }) => count !== 0);
    const all = await this.#months.findOne({ month: ALL_MONTHS }).of(tenant).lean();
    const history: CareHistory = { weekdays: all ? left(all) : [], activity: [], watered: [] };
    const between = { month: { $gte: first.slice(0, 7), $lte: last.slice(0, 7) } };
    const asked = this.#months.find(between).of(tenant).sort({ month: 1 });
    // In batches, so that centuries are not counted in one turn of the event loop.
    for await (const months of batchesOf<CareMonthDocument>(asked)) {
      for (const { month, day, type, count } of months.flatMap(left)) {
        const date = `${month}-${day}`;
        if (first <= date && date <= last) history.activity.push({ date, type, count });
      }
    }
    const every = this.#months.find({ month: { $lt: ALL_MONTHS } }).of(tenant);
    const waterings = every.select(WATERINGS).sort({ month: 1 });
    for await (const months of batchesOf<CareMonthDocument>(waterings)) {
      const days = months.flatMap(left).map(({ month, day }) => dayNumber(`${month}-${day}`));
      history.watered.push(...days);
    }
    return history;
  }

  /** Counts added, deleted and moved events. */
  async apply(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const moved = new CareCounts();
    for (const { before, after } of changes) {
      if (before) moved.addEvents(before.occurredOn, before.type, -1);
      if (after) moved.addEvents(after.occurredOn, after.type, 1);
    }
    await this.#add(tx, moved.entries());
  }

  /** Recounts all events; corrects and returns each difference. */
  async rebuild(tx: Transaction, events: AsyncIterable<DayCount>): Promise<string[]> {
    const wanted = new CareCounts();
    for await (const { occurredOn, type, count } of events) {
      wanted.addEvents(occurredOn, type, count);
    }
    const changes = new CareCounts();
    for (const each of wanted.entries()) changes.add(each);
    for await (const months of batchesOf<CareMonthDocument>(this.#months.find().of(tx))) {
      for (const each of months.flatMap(countsOf)) changes.add(each, -1);
    }
    await this.#add(tx, changes.entries());
    return changes.entries().map((change) => {
      const { month, day, type, count } = change;
      const place = month === ALL_MONTHS ? `a ${WEEKDAYS[Number(day)]}` : `${month}-${day}`;
      const should = wanted.of(change);
      return `events of type ${type} on ${place}: ${should - count} should be ${should}`;
    });
  }

  async #add(tx: Transaction, counts: readonly CareCount[]): Promise<void> {
    const months = new Map<string, Record<string, number>>();
    for (const { month, day, type, count } of counts) {
      const increments = months.get(month) ?? {};
      increments[`days.${day}.${type}`] = count;
      months.set(month, increments);
    }
    const { userId, session } = tx;
    const writes = [...months].map(([month, $inc]) => ({
      updateOne: { filter: { userId, month }, update: { $inc }, upsert: true },
    }));
    await this.#months.bulkWrite(writes, { session });
  }
}

/** The English weekdays, Monday first. */
export const WEEKDAYS = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const;
/** The weekday of 1 January 1970. */
const THURSDAY = 3;

/** Events of a type on a day of a month, or on a weekday of all months. */
export interface CareCount {
  /** As in {@link CareMonthDocument}. */
  month: string;
  day: string;
  type: EventType;
  count: number;
}

/** Numbers of events by day and type; differences may be negative. */
export class CareCounts {
  readonly #counts = new Map<string, CareCount>();

  /** Adds a multiple of a count; -1 subtracts it. */
  add(count: CareCount, times = 1): void {
    this.#counts.set(countKey(count), { ...count, count: this.of(count) + count.count * times });
  }

  /** Adds events to a day and to its weekday. */
  addEvents(date: string, type: EventType, count: number): void {
    const weekday = (((dayNumber(date) + THURSDAY) % 7) + 7) % 7;
    this.add({ month: date.slice(0, 7), day: date.slice(8), type, count });
    this.add({ month: ALL_MONTHS, day: String(weekday), type, count });
  }

  of(count: Omit<CareCount, 'count'>): number {
    return this.#counts.get(countKey(count))?.count ?? 0;
  }

  /** The counts that are not zero, by day, then type; weekdays come last. */
  entries(): CareCount[] {
    const found = [...this.#counts].filter(([, { count }]) => count !== 0);
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }
}

function countKey({ month, day, type }: Omit<CareCount, 'count'>): string {
  return `${month} ${day} ${type}`;
}

/** The counts of a stored month, by day, then type. */
function countsOf({ month, days }: CareMonthDocument): CareCount[] {
  return Object.keys(days)
    .sort()
    .flatMap((day) =>
      Object.entries(days[day] ?? {})
        // The keys are event types.
        .map(([type, count]) => ({ month, day, type: type as EventType, count }))
        .sort((a, b) => (a.type < b.type ? -1 : 1)),
    );
}
