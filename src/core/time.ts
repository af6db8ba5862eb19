import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

const QUARTER_MS = HOUR_MS / 4;

/** The end of the quarter of an hour in UTC: no calendar day begins before it in any time zone. */
export function endOfQuarterHour(now: Date): Date {
  return new Date((Math.floor(now.getTime() / QUARTER_MS) + 1) * QUARTER_MS);
}

/** The calendar day (`YYYY-MM-DD`) some days after another. */
export function addDays(day: string, days: number): string {
  return dayAt(dayNumber(day) + days);
}

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z');

/** The start of a calendar day in a time zone, not before the year 0 in UTC. */
export function startOfDay(day: string, timezone: string): Date {
  const { epochMilliseconds } = Temporal.PlainDate.from(day).toZonedDateTime(timezone);
  return new Date(Math.max(epochMilliseconds, YEAR_0));
}

/** The number of days from 1970-01-01 to a calendar day (`YYYY-MM-DD`). */
export function dayNumber(day: string): number {
  return Date.parse(day) / DAY_MS;
}

/** The inverse of {@link dayNumber}. */
export function dayAt(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

/** Zones that Intl lists only by a former name. */
const RENAMED = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
];
let zones: ReadonlyMap<string, string> | undefined;

/** The names of zones by their lower-case form; made on first use, since few commands need it. */
function zoneNames(): ReadonlyMap<string, string> {
  zones ??= new Map(
    [...Intl.supportedValuesOf('timeZone'), ...RENAMED].map((name) => [name.toLowerCase(), name]),
  );
  return zones;
}

/** A fixed zone as Android reports it. IANA names those of whole hours, with the opposite sign. */
const FIXED_ZONE = /^GMT([+-])0?(\d{1,2}):00$/i;

/**
 * The name of an IANA time zone in its usual case, or that of the zone which replaced it; undefined if
 * there is none. Other offsets than `GMT+03:00` are refused, since they have no summer time.
 */
export function timezoneName(given: string): string | undefined {
  if (!/^[A-Za-z]/.test(given)) return undefined;
  const name = given.replace(FIXED_ZONE, (_, sign, hours) => {
    return `Etc/GMT${sign === '+' ? '-' : '+'}${hours}`;
  });
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return zoneNames().get(name.toLowerCase()) ?? timeZone;
  } catch {
    return undefined;
  }
}

/** More than there are zones; earlier versions stored them in any case. */
const MAX_ZONES = 1000;
const calendars = new LRUCache<string, Calendar>({ max: MAX_ZONES, memoMethod: makeCalendar });
const clocks = new LRUCache<string, Intl.DateTimeFormat>({ max: MAX_ZONES, memoMethod: makeClock });

/** Between these, each zone is in a year of four digits. */
const FOUR_DIGITS = { from: Date.UTC(1000, 0, 2), to: Date.UTC(9999, 11, 30) };

/** Returns the calendar day (`YYYY-MM-DD`) of a moment. */
export type Calendar = (moment: Date) => string;

export function calendarOf(timezone: string): Calendar {
  return calendars.memo(timezone);
}

/** The time of day (`HH:MM`) of a moment in a time zone. */
export function timeOfDay(timezone: string, moment: Date): string {
  return clocks.memo(timezone).format(moment);
}

/**
 * The calendar day of a moment in a time zone, and the times of day that have come on it since an earlier one: after
 * `from`, up to `to`.
 */
export function timesSince(
  timezone: string,
  earlier: Date,
  now: Date,
): { day: string; from: string; to: string } {
  const dayOf = calendarOf(timezone);
  const day = dayOf(now);
  const from = dayOf(earlier) === day ? timeOfDay(timezone, earlier) : '';
  return { day, from, to: timeOfDay(timezone, now) };
}

function makeClock(timeZone: string): Intl.DateTimeFormat {
  const digits = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, ...digits });
}

function makeCalendar(timezone: string): Calendar {
  // Canadian English uses the format of ISO 8601.
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const isUtc = format.resolvedOptions().timeZone === 'UTC';
  return (moment) => {
    if (isUtc) return moment.toISOString().slice(0, 10);
    const time = moment.getTime();
    // Temporal takes twenty times as long.
    const isUsual = FOUR_DIGITS.from <= time && time <= FOUR_DIGITS.to;
    return isUsual ? format.format(time) : unusualDay(time, timezone);
  };
}

/** The calendar day of a moment, between 0000-01-01 and 9999-12-31. */
function unusualDay(time: number, timezone: string): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone);
  if (zoned.year < 0) return '0000-01-01';
  return zoned.year > 9999 ? '9999-12-31' : zoned.toPlainDate().toString();
}

/** Whether a day exists: JavaScript turns 30 February into a day of March. */
export function isCalendarDay(day: string): boolean {
  const moment = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
}

/** An instant, with its calendar day in the time zone of the account. */
export interface DatedMoment {
  at: Date;
  /** `YYYY-MM-DD` */
  on: string;
}

/** Compares by instant, then by day, as MongoDB compares stored ones. */
export function compareMoments(a: DatedMoment, b: DatedMoment): number {
  return a.at.getTime() - b.at.getTime() || (a.on < b.on ? -1 : a.on > b.on ? 1 : 0);
}

/** The later of two moments; either may be missing. */
export function laterOf(one: DatedMoment | null, other: DatedMoment | null): DatedMoment | null {
  if (!one || !other) return one ?? other;
  return compareMoments(one, other) < 0 ? other : one;
}

/** Formats a moment for people. */
export function momentText(moment: DatedMoment | null | undefined): string {
  return moment ? `${moment.at.toISOString()} (${moment.on})` : 'never';
}

/** A date-time with an offset. */
export const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses an RFC 3339 date-time with an offset, to the millisecond. Returns undefined for anything else,
 * for dates that do not exist, and for instants outside the years 0 to 9999.
 */
export function parseTimestamp(value: string): Date | undefined {
  const match = RFC3339.exec(value.toUpperCase());
  if (!match) return undefined;
  const [, year, month, date, hours, minutes, seconds, fraction = '', zone = 'Z'] = match;
  if (!isCalendarDay(`${String(year)}-${String(month)}-${String(date)}`)) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const instantOf = new Date(
    `${String(year)}-${String(month)}-${String(date)}T${String(hours)}:${String(minutes)}:${String(seconds)}.${milliseconds}${zone}`,
  );
  const utcYear = instantOf.getUTCFullYear();
  return utcYear >= 0 && utcYear <= 9999 ? instantOf : undefined;
}
