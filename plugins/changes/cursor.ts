import { decodePlace, encodePlace } from '../../src/core/cursor';
import type { Account } from '../../src/core/identity';
import { idText, isUuid, toStoredId, type StoredId, UUID_FORM } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { DELETIONS_KEPT_DAYS } from '../../src/data/changes/deletions';
import { cursorExpired, invalidSince } from './errors';
import type { RevisionPlace } from './records';

/** A place among the records of one source. */
export interface SourcePlace extends RevisionPlace {
  /** The name of the source; {@link END} where all of the revision is done with. */
  source: string;
}

/** How far a copy has come. */
export interface Progress {
  /** All up to here is in it. */
  place: SourcePlace;
  /** Where `place` is that of a record that others show: how far those have come. */
  shownIn?: SourcePlace & { record: StoredId };
  /** The revision at which the copy was begun: what was deleted before was never in it. */
  base: number;
}

/** Comes after the names of all sources. */
export const END = '~';
/** What stood for it while sources were numbered, up to release 1.1.0. */
const NUMBERED_END = '5';
const IS_NUMBER = /^\d+$/;

const PLACE = String.raw`\.-?\d{1,16}\.(/[\w/-]*|~|\d{1,2})\.(${UUID_FORM})?`;
/** The day, the account, the base, a place, and perhaps how far those have come that show its record. */
const PROGRESS = new RegExp(
  String.raw`^\d{1,6}(-\d{1,16})?\.\d{1,16}${PLACE}(${PLACE}\.${UUID_FORM})?$`,
);

/** Whose cursor it is: an account that was deleted and made again is another one. */
type Holder = Pick<Account, 'id' | 'createdAt'>;

/** The cursor of an account for a copy that has come so far by `now`. */
export function encodeProgress(holder: Holder, progress: Progress, now: Date): string {
  const { place, shownIn, base } = progress;
  const texts = [
    `${dayOf(now)}-${holder.createdAt.getTime()}`,
    base > place.revision ? base : 0,
    ...placeTexts(place),
    ...(shownIn ? [...placeTexts(shownIn), idText(shownIn.record)] : []),
  ];
  return encodePlace([holder.id, 'changes'], texts.join('.'));
}

/** @throws ApiError invalid_cursor for what is not a cursor of this account, cursor_expired */
export function decodeProgress(holder: Holder, cursor: string, now: Date): Progress {
  const place = decodePlace([holder.id, 'changes'], cursor);
  if (place === undefined || !PROGRESS.test(place)) throw invalidSince.error();
  const [given = '', base, ...texts] = place.split('.');
  // Cursors of the first release do not say when their account was made.
  const [day, createdAt = holder.createdAt.getTime()] = given.split('-').map(Number);
  const age = dayOf(now) - Number(day);
  // Clocks of several servers may differ, though not by days.
  const isOfItsTime = age >= -1 && age <= DELETIONS_KEPT_DAYS;
  if (!isOfItsTime || createdAt !== holder.createdAt.getTime()) throw cursorExpired.error();
  const reached = { place: placeOf(texts), base: Number(base) };
  const record = storedId(texts[6]);
  if (IS_NUMBER.test(texts[1] ?? '')) return fromNumbered(reached);
  return { ...reached, ...(record ? { shownIn: { ...placeOf(texts.slice(3)), record } } : {}) };
}

/** A cursor within a revision says nothing once the order has changed: all of that revision comes again. */
function fromNumbered({ place: { revision, source }, base }: Progress): Progress {
  const isDone = source === NUMBERED_END;
  return { place: { revision: isDone ? revision : revision - 1, source: END }, base };
}

/** The first moment at which a cursor of `now` would be another one by time alone. */
export function nextDay(now: Date): Date {
  return new Date((dayOf(now) + 1) * DAY_MS);
}

/** Days in UTC: cursors that came every moment anew would make every answer another one. */
function dayOf(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS);
}

function placeTexts({ revision, source, id }: SourcePlace): (string | number)[] {
  return [revision, source, id ? idText(id) : ''];
}

function placeOf([revision, source = '', id]: readonly string[]): SourcePlace {
  return { revision: Number(revision), source, id: storedId(id) };
}

function storedId(text = ''): StoredId | undefined {
  return isUuid(text) ? toStoredId(text) : undefined;
}
