import { calendarOf } from '../../src/core/time';

/** Rules for the tools of all plugins. */
const GENERAL =
  "All data belongs to the token's owner. Ids are UUIDs and come only from results. Times are RFC 3339 with an offset. Fill fields only with what the person said. For more of a list, pass its nextCursor as cursor with the same arguments. A failed call returns isError with the reason, the field and what to call next.";

/**
 * What a model should know before it reads the tools: the rules for all of them, the person's date,
 * and the instructions of each plugin. Models always read it, so it must stay under 1 KB.
 */
export function instructionsFor(ofPlugins: readonly string[], timezone: string, now: Date): string {
  const today = `Today is ${calendarOf(timezone)(now)} in ${timezone}; on a later day call get_account.`;
  return [`${GENERAL} ${today}`, ...ofPlugins].join('\n\n');
}
