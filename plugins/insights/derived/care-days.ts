import type { AccountScope } from '../../../src/data/models';
import { dayAt, dayNumber } from '../../../src/core/time';
import type { Transaction } from '../../../src/data/transaction';
import type { Host } from '../../../src/plugins/host';
import type { DayCount, EventType } from '../../events';
import type { CareChange } from '../../events/domain-events';
import { WEEKDAYS } from '../weekdays';
import { CareMonths } from './care-months';
import { type CareSums, DayCounts, WeekdayCounts } from './day-counts';
import { differentRuns, type Run, runsOf } from './runs';
import { WateringRuns } from './watering-runs';

/** What an account did on which day, as far as insights show it. */
interface CareHistory {
  sums: CareSums;
  /** The counts of the days asked for. */
  activity: { date: string; type: EventType; count: number }[];
  /** Runs of days with a watering: those at least that {@link WateringRuns.notable} names. */
  runs: Run[];
}

/**
 * How many events an account has on each day, and what follows from that: kept up as events come and
 * go, so that a read goes through the days that it shows and no others.
 */
export class CareDays {
  readonly #months;
  readonly #runs;

  constructor(host: Host) {
    this.#months = new CareMonths(host);
    this.#runs = new WateringRuns(host);
  }

  /** The history without the events of `deleted`, which are counted still. */
  async read(
    scope: AccountScope,
    { first, last, today }: { first: string; last: string; today: string },
    deleted: DayCounts,
  ): Promise<CareHistory> {
    const weekdays = await this.#months.weekdays(scope);
    const activity: CareHistory['activity'] = [];
    for await (const counts of this.#months.between(scope, first, last)) {
      for (const { day: date, type, count } of counts.entries()) {
        const left = count - deleted.of(date, type);
        if (left !== 0 && first <= date && date <= last) activity.push({ date, type, count: left });
      }
    }
    return {
      sums: weekdays.addAll(deleted.byWeekday(), -1).sums,
      activity,
      runs:
        deleted.watered().length === 0
          ? await this.#runs.notable(scope, dayNumber(today))
          : await this.#runsWithout(scope, deleted),
    };
  }

  /** Counts events that came, went or moved. */
  async apply(tx: Transaction, changes: readonly CareChange[]): Promise<void> {
    const moved = new DayCounts();
    for (const { before, after } of changes) {
      if (before) moved.add(before.occurredOn, before.type, -1);
      if (after) moved.add(after.occurredOn, after.type, 1);
    }
    if (moved.entries().length === 0) return;
    const days = moved.watered();
    const before = days.length === 0 ? new DayCounts() : await this.#months.around(tx, days);
    await this.#months.add(tx, moved);
    const wasWatered = (day: string) => before.of(day, 'watered') > 0;
    const isWatered = (day: string) => before.of(day, 'watered') + moved.of(day, 'watered') > 0;
    await this.#runs.change(tx, {
      added: days.filter((day) => !wasWatered(day) && isWatered(day)).map(dayNumber),
      removed: days.filter((day) => wasWatered(day) && !isWatered(day)).map(dayNumber),
    });
  }

  /** Recounts all events; writes what differs and answers each difference. */
  async rebuild(tx: Transaction, counts: AsyncIterable<DayCount>): Promise<string[]> {
    const wanted = new DayCounts();
    for await (const { occurredOn, type, count } of counts) wanted.add(occurredOn, type, count);
    const stored = await this.#months.all(tx);
    const days = { wanted, changes: new DayCounts().addAll(wanted).addAll(stored, -1) };
    const byWeekday = wanted.byWeekday();
    const storedByWeekday = await this.#months.weekdays(tx);
    const weekdays = {
      wanted: byWeekday,
      changes: new WeekdayCounts().addAll(byWeekday).addAll(storedByWeekday, -1),
    };
    await this.#months.add(tx, days.changes, weekdays.changes);
    const runs = runsOf(wanted.watered().map(dayNumber));
    const storedRuns = await this.#runs.set(tx, runs);
    return [
      ...differences(days, (day) => day),
      ...differences(weekdays, (day) => `a ${WEEKDAYS[Number(day)]}`),
      ...differentRuns(storedRuns, runs).map(({ first, is, should }) => {
        return `days with a watering in a row from ${dayAt(first)}: ${is} should be ${should}`;
      }),
    ];
  }

  /** Once the deletion is finished they are stored like this. */
  async #runsWithout(scope: AccountScope, deleted: DayCounts): Promise<Run[]> {
    const counts = await this.#months.all(scope);
    return runsOf(counts.addAll(deleted, -1).watered().map(dayNumber));
  }
}

/** Says which counts were changed, to what they are wanted to be. */
function differences(
  { wanted, changes }: Readonly<Record<'wanted' | 'changes', DayCounts | WeekdayCounts>>,
  nameOf: (day: string) => string,
): string[] {
  return changes.entries().map(({ day, type, count }) => {
    const should = wanted.of(day, type);
    return `events of type ${type} on ${nameOf(day)}: ${should - count} should be ${should}`;
  });
}
