import type { mongo } from 'mongoose';

import type { MigrationRun, StoredDocument, Migration } from './migration';
import { type Calendar, calendarOf, DAY_MS, dayNumber } from '../../core/time';

/** A filter for the ids of a chunk. */
interface IdRange {
  $gte: mongo.UUID;
  $lte: mongo.UUID;
}

/**
 * Changes the documents of a collection by id, a chunk at a time, and saves the position after each.
 *
 * @param options.projection the fields to read besides ids
 * @param change may get the same chunk again after a crash
 */
export async function changeInChunks(
  run: MigrationRun,
  documents: mongo.Collection<StoredDocument>,
  { size, projection = {} }: { size: number; projection?: Readonly<Record<string, 1>> },
  change: (chunk: readonly StoredDocument[], ids: IdRange) => Promise<unknown>,
): Promise<void> {
  // Saved below.
  let position = run.position as mongo.UUID | null | undefined;
  const total = await documents.estimatedDocumentCount();
  for (;;) {
    const chunk = await documents
      .find(position ? { _id: { $gt: position } } : {}, { projection: { ...projection, _id: 1 } })
      .sort({ _id: 1 })
      .limit(size)
      .toArray();
    const [first] = chunk;
    const last = chunk.at(-1);
    if (!first || !last) return;
    await change(chunk, { $gte: first._id, $lte: last._id });
    position = last._id;
    await run.save(position, chunk.length, total);
  }
}

/** Documents changed by one command. */
const CHUNK = 5000;

/** A migration that adds the revision 0 to records from before their changes were tracked. */
export function addRevisions(name: string, collection: string): Migration {
  return {
    name,
    besideOlder: false,
    run: async (run) => {
      const documents = run.collection(collection);
      await changeInChunks(run, documents, { size: CHUNK }, (_chunk, ids) =>
        documents.updateMany({ _id: ids, revision: { $exists: false } }, { $set: { revision: 0 } }),
      );
    },
  };
}

/** Increments the revision of an account, for a record that a migration changes. */
export async function nextRevision(run: MigrationRun, userId: string): Promise<number> {
  // The ids of accounts are names, not UUIDs.
  const accounts = run.collection('accounts') as unknown as mongo.Collection<AccountDocument>;
  const update = { $inc: { revision: 1 } };
  const options = { returnDocument: 'after', projection: { revision: 1 } } as const;
  const account = await accounts.findOneAndUpdate({ _id: userId }, update, options);
  // No client has a copy of a deleted account.
  return account?.revision ?? 0;
}

interface AccountDocument {
  _id: string;
  revision: number;
}

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
export function dateMoments(
  name: string,
  collection: string,
  datings: readonly Dating[],
): Migration {
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
export function datedMoment(moment: string, dated: string, { isReplaced = false } = {}): Dating {
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
  return (userId) => {
    try {
      return calendarOf(zones.get(String(userId)) ?? NO_ZONE);
    } catch {
      // This Node does not know the zone, and one account must not stop the migration of all.
      return calendarOf(NO_ZONE);
    }
  };
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
