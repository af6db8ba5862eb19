import { DAY_MS, dayAt, dayNumber } from '../../../src/core/time';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Weekday = (typeof WEEKDAYS)[number];

/** Which one of a month; the last is -1, and each one is ''. */
const WEEKS = ['', '1', '2', '3', '4', '-1'] as const;
/** A weekday of each week or of each month: `mon`, `1mon`, `-1mon`. */
export type WeekdayOfMonth = `${(typeof WEEKS)[number]}${Weekday}`;
export const WEEKDAYS_OF_MONTH: readonly WeekdayOfMonth[] = WEEKS.flatMap((week) =>
  WEEKDAYS.map((weekday) => `${week}${weekday}` as const),
);

/** A part of each year with an interval of its own; `from` and `to` (`MM-DD`) are both included. */
export interface Season {
  from: string;
  to: string;
  /** Zero for no care. */
  everyDays: number;
}

/** What a rule has exactly one of. */
export const KINDS = ['everyDays', 'weekdays', 'monthDays'] as const;

/** Says on which days care is due (docs/api.md, "Schedules"). Days are `YYYY-MM-DD`. */
export interface Rule {
  everyDays: number | null;
  weekdays: readonly WeekdayOfMonth[] | null;
  /** 1 to 31, or -1 for the last; missing in schedules of 1.2.0. */
  monthDays?: readonly number[] | null;
  /** 1 to 12; null for all. */
  months: readonly number[] | null;
  seasons: readonly Season[];
  startOn: string;
  endOn: string | null;
}

/** The fields of a rule. */
export const RULE_FIELDS = [
  'everyDays',
  'weekdays',
  'monthDays',
  'months',
  'seasons',
  'startOn',
  'endOn',
] as const satisfies readonly (keyof Rule)[];

/** The rule of a schedule alone. */
export function ruleOf(schedule: Rule): Rule {
  const { everyDays, weekdays, monthDays = null, months, seasons, startOn, endOn } = schedule;
  return { everyDays, weekdays, monthDays, months, seasons, startOn, endOn };
}

/** The last care by a rule, and how its next occurrence was postponed. */
export interface CareSoFar {
  /** The day of the last care. */
  lastOn: string | null;
  /** A skip, which counts as care on this day. */
  skippedOn: string | null;
  /** Care is due on this day, whatever the rule says; null without a snooze. */
  snoozedUntil: string | null;
}

/** The last day that `YYYY-MM-DD` can express. */
export const LAST_DAY = '9999-12-31';

const LAST = dayNumber(LAST_DAY);
/** Ten years for the longest interval, and twelve in which every date falls on every weekday. */
const MOST_DAYS_BETWEEN = 22 * 366;

/**
 * The days on which care is due, in order, as if overdue care were done today and the rest on its day.
 * Only the first may be before today.
 */
export function* dueDays(
  rule: Rule,
  soFar: CareSoFar,
  today: string,
): Generator<string, undefined> {
  const now = dayNumber(today);
  const first = firstDueDay(rule, soFar);
  let day = first === undefined ? undefined : dayNumber(first);
  while (day !== undefined) {
    yield dayAt(day);
    day = nextDay(rule, Math.max(day, now));
  }
  return undefined;
}

/** The first of these days; undefined if there is none. */
export function firstDueDay(
  rule: Rule,
  { lastOn, skippedOn, snoozedUntil }: CareSoFar,
): string | undefined {
  if (snoozedUntil !== null) return snoozedUntil;
  const last = (lastOn ?? '') > (skippedOn ?? '') ? lastOn : skippedOn;
  const day = nextDay(rule, last === null ? undefined : dayNumber(last));
  return day === undefined ? undefined : dayAt(day);
}

/** The number of days from an occurrence to the next one, at least 1. */
export function daysBetween(rule: Rule, dueOn: string): number {
  const day = dayNumber(dueOn);
  const { everyDays } = stretchAt(rule, day);
  if (everyDays) return everyDays;
  // The last occurrence shows the days to another one, too.
  const next = nextDay({ ...rule, endOn: null }, day);
  return next === undefined ? (rule.everyDays ?? WEEKDAYS.length) : next - day;
}

/** Whether care is due on any day. */
export function leavesDays(rule: Rule): boolean {
  return nextDay(rule, undefined) !== undefined;
}

/** Whether any two seasons have a day in common. */
export function overlap(seasons: readonly Season[]): boolean {
  const parts = seasons.map(partOfYear);
  // Of two parts of a year that overlap, one begins within the other.
  return parts.some((part) => parts.some((other) => other !== part && holds(other, part.from)));
}

/** The first due day after care on the day `last`, or the first of all. */
function nextDay(rule: Rule, last: number | undefined): number | undefined {
  const inSeasons = rule.seasons.flatMap(({ everyDays }) => everyDays || []);
  const shortest = Math.min(rule.everyDays ?? 1, ...inSeasons);
  const start = dayNumber(rule.startOn);
  let day = last === undefined ? start : Math.max(start, last + shortest);
  const end = Math.min(rule.endOn === null ? LAST : dayNumber(rule.endOn), day + MOST_DAYS_BETWEEN);
  while (day <= end) {
    const { everyDays, until } = stretchAt(rule, day);
    let due = Infinity;
    if (everyDays === null) due = firstListed(rule, day);
    else if (everyDays > 0) due = last === undefined ? day : Math.max(day, last + everyDays);
    if (due < until) return due <= end ? due : undefined;
    day = until;
  }
  return undefined;
}

/** Days to which one interval applies, up to but not including `until`; of one month if the rule differs by date. */
interface Stretch {
  /** Zero for no care; null if it is due on the listed days. */
  everyDays: number | null;
  until: number;
}

function stretchAt({ everyDays, months, seasons }: Rule, day: number): Stretch {
  // Most rules are alike all year; reading dates for thousands of them takes long.
  if (everyDays !== null && !months && seasons.length === 0) return { everyDays, until: Infinity };
  const { month, first, last } = monthOf(day);
  const dayOfMonth = day - first + 1;
  const nextMonth = last + 1;
  if (months && !months.includes(month)) return { everyDays: 0, until: nextMonth };
  const stretch = { everyDays, until: nextMonth };
  for (const season of seasons) {
    const { from, to } = partOfYear(season);
    if (holds({ from, to }, month * 100 + dayOfMonth)) stretch.everyDays = season.everyDays;
    for (const edge of [from, to + 1]) {
      const edgeDay = first - 1 + (edge % 100);
      const isAhead = Math.floor(edge / 100) === month && edgeDay > day;
      if (isAhead) stretch.until = Math.min(stretch.until, edgeDay);
    }
  }
  return stretch;
}

/** A season as numbers such as 1101. */
interface PartOfYear {
  from: number;
  to: number;
}

/** February ends on the 29th in every year; in most years that day never comes. */
function partOfYear({ from, to }: Season): PartOfYear {
  const [first, last] = [dateNumber(from), dateNumber(to)];
  return { from: first, to: last === 228 ? 229 : last };
}

function dateNumber(date: string): number {
  return Number(date.slice(0, 2)) * 100 + Number(date.slice(3));
}

function holds({ from, to }: PartOfYear, date: number): boolean {
  return from <= to ? from <= date && date <= to : from <= date || date <= to;
}

/** The number of a month, 1 to 12, and its first and last day. */
function monthOf(day: number): { month: number; first: number; last: number } {
  const date = new Date(day * DAY_MS);
  const month = date.getUTCMonth() + 1;
  const first = day - date.getUTCDate() + 1;
  date.setUTCMonth(month, 0);
  return { month, first, last: date.getTime() / DAY_MS };
}

/** The first of a rule's weekdays and days of the month from a day on, if that is in the same month. */
function firstListed({ weekdays, monthDays }: Rule, day: number): number {
  const { first, last } = monthOf(day);
  const dates = (monthDays ?? []).map((each) =>
    each === -1 ? last : Math.min(first + each - 1, last),
  );
  // In the order of WEEKS.
  const starts = [day, first, first + 7, first + 14, first + 21, last - 6];
  const onWeekdays = (weekdays ?? []).map((each) => {
    const index = WEEKDAYS_OF_MONTH.indexOf(each);
    const start = starts[Math.floor(index / WEEKDAYS.length)] ?? day;
    // The first of 1970 was a Thursday.
    return start + modulo((index % WEEKDAYS.length) - WEEKDAYS.indexOf('thu') - start);
  });
  return Math.min(...[...dates, ...onWeekdays].filter((each) => each >= day));
}
function modulo(days: number): number {
  const rest = days % WEEKDAYS.length;
  return rest < 0 ? rest + WEEKDAYS.length : rest;
}
