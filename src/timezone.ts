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
