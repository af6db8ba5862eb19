import { calendarOf } from '../../src/core/time';

/** What holds for the tools of all plugins. */
const GENERAL =
  "All data is that of the token's owner. Ids are UUIDs and come only from answers. Moments are RFC 3339 with an offset. Only what the person said goes into fields. While hasMore is true, pass nextCursor as cursor. A failed call answers isError with the reason, the field and what to call next.";

/**
 * What a model should know before it reads the single tools: what holds for all of them, what day it
 * is for the person, then what each plugin says of its own. A model always reads it, so the whole must
 * stay under 1 KB.
 */
export function instructionsFor(ofPlugins: readonly string[], timezone: string, now: Date): string {
  const today = `Today is ${calendarOf(timezone)(now)} in ${timezone}; on a later day ask get_account.`;
  return [`${GENERAL} ${today}`, ...ofPlugins].join('\n\n');
}
