import { Temporal } from 'temporal-polyfill';

/** How many days ahead changes of the offset are listed: longer than a calendar is shown. */
const DAYS = 366;
/** Where a zone has no changes. */
const LONG_AGO = Temporal.PlainDate.from('1970-01-01');

/** A time zone as a component of a calendar (RFC 5545, 3.6.5), from a day on. */
export function timezoneOf(timezone: string, day: string): string {
  const start = Temporal.PlainDate.from(day).toZonedDateTime(timezone);
  const end = start.add({ days: DAYS });
  const lines = ['BEGIN:VTIMEZONE', `TZID:${timezone}`];
  let at: Temporal.ZonedDateTime | null =
    start.getTimeZoneTransition('previous') ?? LONG_AGO.toZonedDateTime(timezone);
  while (at && Temporal.ZonedDateTime.compare(at, end) < 0) {
    const before: Temporal.ZonedDateTime = at.subtract({ nanoseconds: 1 });
    const kind = at.offsetNanoseconds > before.offsetNanoseconds ? 'DAYLIGHT' : 'STANDARD';
    // In the time that ends.
    const onset = before
      .toPlainDateTime()
      .add({ nanoseconds: 1 })
      .toString({ smallestUnit: 'second' });
    lines.push(
      `BEGIN:${kind}`,
      `DTSTART:${onset.replace(/[-:]/g, '')}`,
      `TZOFFSETFROM:${before.offset.replaceAll(':', '')}`,
      `TZOFFSETTO:${at.offset.replaceAll(':', '')}`,
      `END:${kind}`,
    );
    at = at.getTimeZoneTransition('next');
  }
  return [...lines, 'END:VTIMEZONE'].join('\r\n');
}
