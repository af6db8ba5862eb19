import type { AccountScope } from '../../../src/data/models';
import { calendarOf, dayAt, dayNumber } from '../../../src/core/time';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { CareEntry } from '../../events';
import type { CareChange } from '../../events/domain-events';
import { CareMonths } from './care-months';
import { CareTotals } from './care-totals';
import { type CareSums, type DayCount, DayCounts, sumsOf } from './day-counts';
import { differentRuns, type Run, runsOf } from './runs';
import { WateringRuns } from './watering-runs';

/** What an account did on which day, as far as insights show it. */
interface CareHistory {
  sums: CareSums;
  /** The counts of the days asked for. */
  activity: DayCount[];
  /** Runs of days with a watering: those at least that {@link WateringRuns.notable} names. */
  runs: Run[];
}

/**
 * How many events an account has on each day, in its time zone, and what follows from that: kept
 * up as events come and go, so that a read goes through the days that it shows and no others.
 */
export class CareDays {
  readonly #months;
  readonly #totals;
  readonly #runs;

  constructor(host: Host) {
    this.#months = new CareMonths(host);
    this.#totals = new CareTotals(host);
    this.#runs = new WateringRuns(host);
  }

  /**
   * The history without the events of `deleted`, which are counted still.
   *
   * @returns undefined where days were counted before their totals were: see {@link summarize}
   */
  async read(
    scope: AccountScope,
    { first, last, today }: { first: string; last: string; today: string },
    deleted: DayCounts,
  ): Promise<CareHistory | undefined> {
    const totals = await this.#totals.read(scope);
    if (!totals && (await this.#months.exist(scope))) return undefined;
    const activity: DayCount[] = [];
    for await (const counts of this.#months.between(scope, first, last)) {
      for (const { date, type, count } of counts.entries()) {
        const left = count - deleted.of(date, type);
        if (left !== 0 && first <= date && date <= last) activity.push({ date, type, count: left });
      }
    }
    return {
      sums: difference(totals, sumsOf(deleted)),
      activity,
      runs:
        deleted.watered().length === 0
          ? await this.#runs.notable(scope, dayNumber(today))
          : await this.#runsWithout(scope, deleted),
    };
  }

  /** Computes what follows from the counts of days that an earlier release has stored. */
  async summarize(tx: Transaction): Promise<void> {
    const counts = await this.#months.all(tx);
    await this.#totals.set(tx, sumsOf(counts));
    await this.#runs.set(tx, wateringRunsOf(counts));
  }

  /** Counts events that came, went or moved. */
  async apply(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const dayOf = calendarOf(tx.account.timezone);
    const moved = new DayCounts();
    for (const { before, after } of changes) {
      if (before) moved.add(dayOf(before.occurredAt), before.type, -1);
      if (after) moved.add(dayOf(after.occurredAt), after.type, 1);
    }
    if (moved.entries().length === 0) return;
    const days = moved.watered();
    const before = days.length === 0 ? new DayCounts() : await this.#months.around(tx, days);
    await this.#months.add(tx, moved);
    if (!(await this.#totals.add(tx, sumsOf(moved)))) {
      await this.summarize(tx);
      return;
    }
    const wasWatered = (day: string) => before.of(day, 'watered') > 0;
    const isWatered = (day: string) => before.of(day, 'watered') + moved.of(day, 'watered') > 0;
    await this.#runs.change(tx, {
      added: days.filter((day) => !wasWatered(day) && isWatered(day)).map(dayNumber),
      removed: days.filter((day) => wasWatered(day) && !isWatered(day)).map(dayNumber),
    });
  }

  /** Recounts all events, in a time zone; writes what differs and answers each difference. */
  async rebuild(
    tx: Transaction,
    entries: AsyncIterable<CareEntry>,
    timezone: string,
  ): Promise<string[]> {
    const dayOf = calendarOf(timezone);
    const wanted = new DayCounts();
    const correction = new DayCounts();
    for await (const { occurredAt, type } of entries) {
      const day = dayOf(occurredAt);
      wanted.add(day, type);
      correction.add(day, type);
    }
    correction.subtract(await this.#months.all(tx));
    await this.#months.add(tx, correction);
    const counts = correction.entries().map(({ date, type, count }) => {
      const should = wanted.of(date, type);
      return `events of type ${type} on ${date}: ${should - count} should be ${should}`;
    });
    return [...counts, ...(await this.#rebuildSummary(tx, wanted))];
  }

  async #rebuildSummary(tx: Transaction, counts: DayCounts): Promise<string[]> {
    const sums = sumsOf(counts);
    const runs = wateringRunsOf(counts);
    const storedSums = await this.#totals.read(tx);
    // Before the first event there is nothing to store.
    if (!storedSums && sums.events === 0) return [];
    await this.#totals.set(tx, sums);
    const storedRuns = await this.#runs.set(tx, runs);
    // What an earlier release did not compute is not wrong.
    if (!storedSums) return [];
    return [
      ...sumsDifference(storedSums, sums),
      ...differentRuns(storedRuns, runs).map(({ first, is, should }) => {
        return `days with a watering in a row from ${dayAt(first)}: ${is} should be ${should}`;
      }),
    ];
  }

  /** Once the deletion is finished they are stored like this. */
  async #runsWithout(scope: AccountScope, deleted: DayCounts): Promise<Run[]> {
    const counts = await this.#months.all(scope);
    counts.subtract(deleted);
    return wateringRunsOf(counts);
  }
}

function wateringRunsOf(counts: DayCounts): Run[] {
  return runsOf(counts.watered().map(dayNumber));
}

function sumsDifference(is: CareSums, should: CareSums): string[] {
  const text = ({ events, weekdays }: CareSums) => `${events} (${weekdays.join(', ')})`;
  return text(is) === text(should)
    ? []
    : [`events, and by weekday: ${text(is)} should be ${text(should)}`];
}

function difference(all: CareSums | undefined, part: CareSums): CareSums {
  return {
    events: (all?.events ?? 0) - part.events,
    weekdays: part.weekdays.map((count, weekday) => (all?.weekdays[weekday] ?? 0) - count),
  };
}
