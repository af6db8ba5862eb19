import fc from 'fast-check';

import { addDays } from '../../../src/core/time';
import {
  type CareSoFar,
  overlap,
  type Rule,
  type Season,
  WEEKDAYS,
  WEEKDAYS_OF_MONTH,
} from '../schedules/days';

/** Remembers results, since days are visited again and again. */
function remembered<T>(work: (day: string) => T): (day: string) => T {
  const results = new Map<string, T>();
  return (day) => {
    const known = results.get(day) ?? work(day);
    results.set(day, known);
    return known;
  };
}
const dayAfter = remembered((day) => addDays(day, 1));
const weekAfter = remembered((day) => addDays(day, 7));
const numberOf = remembered((day) => Date.parse(day) / 86_400_000);

/** The rule of docs/api.md word for word, day by day: slow, but easy to check. */
export const plainly = {
  isIn({ from, to }: Season, day: string): boolean {
    const year = Number(day.slice(0, 4));
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const first = from === '02-29' && !isLeap ? '03-01' : from;
    const last = to === '02-28' || to === '02-29' ? (isLeap ? '02-29' : '02-28') : to;
    const date = day.slice(5);
    // By the given dates: 29 February alone does not exist in other years.
    const spansNewYear = from > (to === '02-28' ? '02-29' : to);
    return spansNewYear ? date >= first || date <= last : date >= first && date <= last;
  },
  isDue(given: Rule, last: string | null, day: string): boolean {
    if (day < given.startOn || (given.endOn !== null && day > given.endOn)) return false;
    if (given.months && !given.months.includes(Number(day.slice(5, 7)))) return false;
    const since = last === null ? Infinity : numberOf(day) - numberOf(last);
    const season = given.seasons.find((each) => plainly.isIn(each, day));
    if (season) return season.everyDays > 0 && since >= season.everyDays;
    if (given.everyDays !== null) return since >= given.everyDays;
    return since > 0 && (plainly.isOnDate(given, day) || plainly.isOnWeekday(given, day));
  },
  isOnDate({ monthDays }: Rule, day: string): boolean {
    const dayOfMonth = Number(day.slice(8));
    const isLast = dayAfter(day).endsWith('-01');
    return (monthDays ?? []).some(
      (each) => each === dayOfMonth || (isLast && (each === -1 || each > dayOfMonth)),
    );
  },
  isOnWeekday({ weekdays }: Rule, day: string): boolean {
    const weekday = WEEKDAYS[(numberOf(day) + 3) % 7]; // 1970 began on a Thursday.
    const week = Math.ceil(Number(day.slice(8)) / 7);
    const isLast = weekAfter(day).slice(5, 7) !== day.slice(5, 7);
    const names = [`${weekday}`, `${week}${weekday}`, ...(isLast ? [`-1${weekday}`] : [])];
    return (weekdays ?? []).some((each) => names.includes(each));
  },
  *dueDays(
    given: Rule,
    { lastOn, skippedOn, snoozedUntil }: CareSoFar,
    today: string,
    to: string,
  ): Generator<string, undefined> {
    const end = given.endOn !== null && given.endOn < to ? given.endOn : to;
    let last = (lastOn ?? '') > (skippedOn ?? '') ? lastOn : skippedOn;
    let day = given.startOn;
    if (snoozedUntil !== null) {
      if (snoozedUntil <= to) yield snoozedUntil;
      last = snoozedUntil > today ? snoozedUntil : today;
      day = last;
    }
    for (; day <= end; day = dayAfter(day)) {
      if (!plainly.isDue(given, last, day)) continue;
      yield day;
      last = day > today ? day : today;
    }
    return undefined;
  },
};

const DAYS_OF_MONTH = [-1, ...Array.from({ length: 31 }, (_, index) => index + 1)];
function someFew<T>(values: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...values], { minLength: 1, maxLength: 4 });
}

/** Days around leap years, the turn of a century without one, and new years. */
export const someDay = fc
  .tuple(fc.constantFrom('2026-01-01', '2027-12-20', '2028-02-20', '2099-11-01'), fc.nat(500))
  .map(([day, days]) => addDays(day, days));
const someDate = fc.oneof(
  fc.constantFrom('01-01', '02-27', '02-28', '02-29', '03-01', '12-31'),
  fc.nat(365).map((days) => addDays('2000-01-01', days).slice(5)),
);
export const someSeason = fc.record({
  from: someDate,
  to: someDate,
  everyDays: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
});
/** What a schedule has exactly one of. */
export const someKind = fc
  .oneof(
    fc.integer({ min: 1, max: 30 }).map((everyDays) => ({ everyDays })),
    fc.integer({ min: 31, max: 3650 }).map((everyDays) => ({ everyDays })),
    fc.subarray([...WEEKDAYS], { minLength: 1 }).map((weekdays) => ({ weekdays })),
    someFew(WEEKDAYS_OF_MONTH).map((weekdays) => ({ weekdays })),
    someFew(DAYS_OF_MONTH).map((monthDays) => ({ monthDays })),
  )
  .map((kind) => ({ everyDays: null, weekdays: null, monthDays: null, ...kind }));
export const someRule: fc.Arbitrary<Rule> = fc
  .record({
    kind: someKind,
    months: fc.option(fc.subarray([1, 2, 3, 6, 7, 11, 12], { minLength: 1 })),
    seasons: fc.array(someSeason, { maxLength: 3 }).filter((seasons) => !overlap(seasons)),
    startOn: someDay,
    endOn: fc.option(someDay),
  })
  .map(({ kind, ...rest }) => ({ ...kind, ...rest }));
