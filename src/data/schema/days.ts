import type { mongo } from 'mongoose';

import { type Calendar, calendarOf, DAY_MS, dayNumber } from '../../core/time';
import { changeInChunks } from './chunks';
import type { Migration, MigrationRun, StoredDocument } from './migration';

/** Documents changed at a time: few enough for commands that may not take long. */
const CHUNK = 5000;
/** What counts as the zone of an account that is not there. */
const NO_ZONE = 'UTC';

/** A field that has a moment, and another that gets its calendar day. */
interface Dating {
  moment: string;
  /** The field that only those documents have that were given their day. */
  dated: string;
  /** The stages of an update, given the expression of the day. */
  update: (day: object) => mongo.Document[];
}

/**
 * A migration after which moments have the calendar day that they are on in the time zone that their
 * account has then.
 */
export function addDays(name: string, collection: string, datings: readonly Dating[]): Migration {
  const read = ['userId', ...datings.map(({ moment }) => moment)];
  const projection = Object.fromEntries(read.map((field) => [field, 1 as const]));
  return {
    name,
    besideOlder: false,
    run: async (run) => {
      const documents = run.collection(collection);
      await changeInChunks(run, documents, { size: CHUNK, projection }, async (chunk) => {
        const calendarFor = await calendarsOf(
          run,
          chunk.map(({ userId }) => userId),
        );
        for (const { moment, dated, update } of datings) {
          for (const [shift, ids] of byShift(chunk, moment, calendarFor)) {
            const shifted = { $add: [`$${moment}`, shift * DAY_MS] };
            const day = { $dateToString: { date: shifted, format: '%Y-%m-%d' } };
            const undated = { _id: { $in: ids }, [dated]: { $exists: false } };
            await documents.updateMany(undated, update(day));
          }
        }
      });
    },
  };
}

/** A moment and its day as one field, in place of the moment or beside it. */
export function datedMoment(
  moment: string,
  dated: string,
  { isReplaced = false } = {},
): Dating {
  return {
    moment,
    dated,
    update: (on) => [
      { $set: { [dated]: { at: `$${moment}`, on } } },
      ...(isReplaced ? [{ $unset: moment }] : []),
    ],
  };
}

/** The calendars of some accounts, which may be named more than once. */
export async function calendarsOf(
  run: MigrationRun,
  accountIds: readonly unknown[],
): Promise<(userId: unknown) => Calendar> {
  const userIds = [...new Set(accountIds.map(String))];
  // Accounts, unlike what belongs to them, have a name as their id.
  const filter = { _id: { $in: userIds } } as object;
  const accounts = run.collection('accounts').find(filter, { projection: { timezone: 1 } });
  const zones = new Map<string, string>();
  for await (const { _id, timezone } of accounts) zones.set(String(_id), String(timezone));
  return (userId) => calendarOf(zones.get(String(userId)) ?? NO_ZONE);
}

/**
 * The ids of documents by how many days their calendar day lies after that of UTC: one before, none
 * or one. So few commands change many documents, and the calendar is that of the program.
 */
function byShift(
  chunk: readonly StoredDocument[],
  moment: string,
  calendarFor: (userId: unknown) => Calendar,
): Map<number, mongo.UUID[]> {
  const inUtc = calendarOf('UTC');
  const shifts = new Map<number, mongo.UUID[]>();
  for (const document of chunk) {
    const at = document[moment];
    if (!(at instanceof Date)) continue;
    const day = calendarFor(document['userId'])(at);
    const shift = dayNumber(day) - dayNumber(inUtc(at));
    const ids = shifts.get(shift) ?? [];
    ids.push(document._id);
    shifts.set(shift, ids);
  }
  return shifts;
}
