import type { mongo } from 'mongoose';

import { type Calendar, calendarOf, DAY_MS, dayNumber } from '../../core/time';
import { changeInChunks } from './chunks';
import type { Migration, MigrationRun, StoredDocument } from './migration';

/** Documents changed by one command. */
const CHUNK = 5000;
/** The zone of an account that does not exist. */
const NO_ZONE = 'UTC';

/** A field with a moment, and another for its calendar day. */
interface Dating {
  moment: string;
  /** The field that is only present in documents that have their day. */
  dated: string;
  /** Returns the stages of an update, given the expression of the day. */
  update: (day: object) => mongo.Document[];
}

/** A migration that adds to moments their calendar day in the current time zone of their account. */
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

/** Stores a moment and its day in one field, besides the moment or instead of it. */
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

/** The calendars of some accounts; ids may repeat. */
export async function calendarsOf(
  run: MigrationRun,
  accountIds: readonly unknown[],
): Promise<(userId: unknown) => Calendar> {
  const userIds = [...new Set(accountIds.map(String))];
  // The ids of accounts are names, not UUIDs.
  const filter = { _id: { $in: userIds } } as object;
  const accounts = run.collection('accounts').find(filter, { projection: { timezone: 1 } });
  const zones = new Map<string, string>();
  for await (const { _id, timezone } of accounts) zones.set(String(_id), String(timezone));
  return (userId) => calendarOf(zones.get(String(userId)) ?? NO_ZONE);
}

/**
 * The ids of documents by the number of days from their day in UTC to their calendar day: -1, 0 or 1. So
 * three commands change a chunk.
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
