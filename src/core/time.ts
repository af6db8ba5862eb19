/** The milliseconds of an hour. */
export const HOUR_MS = 60 * 60 * 1000;
/** The milliseconds of a day in UTC. */
export const DAY_MS = 24 * HOUR_MS;

const QUARTER_MS = HOUR_MS / 4;

/** No calendar day begins before it: in every time zone days begin at a quarter of an hour. */
export function endOfQuarterHour(now: Date): Date {
  return new Date((Math.floor(now.getTime() / QUARTER_MS) + 1) * QUARTER_MS);
}

/** The calendar day (`YYYY-MM-DD`) that lies a number of days after another. */
export function addDays(day: string, days: number): string {
  return dayAt(dayNumber(day) + days);
}

/** How many days after the first of 1970 a calendar day (`YYYY-MM-DD`) is. */
export function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
}

/** The calendar day of a number that {@link dayNumber} gave. */
export function dayAt(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The name of an IANA time zone, as it is usually written where it is not one of several names of
 * the same; undefined where there is none. Offsets do not know summer time and are none.
 */
export function timezoneName(given: string): string | undefined {
  if (!/^[A-Za-z]/.test(given)) return undefined;
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone;
    // Of a zone with several names it knows the oldest, which is not what was asked for.
    return known.toLowerCase() === given.toLowerCase() ? known : given;
  } catch {
    return undefined;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Outside of these moments a local year may not have four digits, and days are taken to be UTC's. */
const FIRST_LOCAL = Date.UTC(1000, 0, 2);
const LAST_LOCAL = Date.UTC(9999, 11, 30);

/** The calendar day (`YYYY-MM-DD`) of moments in a time zone, given by its IANA name. */
export function calendarOf(timezone: string): (moment: Date) => string {
  const format = formatOf(timezone);
  const isUtc = format.resolvedOptions().timeZone === 'UTC';
  return (moment) => {
    const time = moment.getTime();
    const isLocal = !isUtc && time > FIRST_LOCAL && time < LAST_LOCAL;
    return isLocal ? format.format(moment) : moment.toISOString().slice(0, 10);
  };
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (!format) {
    // Canadian English writes dates as ISO 8601 does.
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(timezone, format);
  }
  return format;
}
