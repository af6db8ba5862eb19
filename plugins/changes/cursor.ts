import { ErrorCode, invalidCursor } from '../../src/core/errors';
import { decodePosition, encodePosition } from '../../src/core/cursor';
import type { Account } from '../../src/core/identity';
import { idText, isUuid, toStoredId, type StoredId, UUID_FORM } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { DELETIONS_KEPT_DAYS } from '../../src/data/changes/deletions';
import type { RevisionPlace } from './records';

export const cursorExpired = new ErrorCode(
  'cursor_expired',
  410,
  'This cursor has expired; start again without it.',
);

export const invalidSince = invalidCursor.at(
  400,
  'since is not a nextCursor that this list gave you; start again without it.',
);

/** A place among the records of one source. */
export interface SourcePlace extends RevisionPlace {
  /** The name of the source; {@link END} after the whole revision. */
  source: string;
}

/** The progress of a copy. */
export interface Progress {
  /** It has everything up to here. */
  place: SourcePlace;
  /** If others embed the record at `place`: the progress through those. */
  shownIn?: SourcePlace & { record: StoredId };
  /** The revision at which the copy was begun; it never had what was deleted before. */
  base: number;
}

/** Sorts after the names of all sources. */
export const END = '~';
/** Releases before 1.2.0 numbered the sources. */
const IS_NUMBERED = /^\d/;

const PLACE = String.raw`\.-?\d{1,16}\.(/[\w/-]*|~|\d{1,2})\.(${UUID_FORM})?`;
/** The day, the account, the base, a place and, if others embed its record, the progress through those. */
const PROGRESS = new RegExp(
  String.raw`^\d{1,6}(-\d{1,16})?\.\d{1,16}${PLACE}(${PLACE}\.${UUID_FORM})?$`,
);

/** The account of a cursor; one that was deleted and created again is another account. */
type Holder = Pick<Account, 'id' | 'createdAt'>;

/** The cursor for the progress of a copy. */
export function encodeProgress(holder: Holder, progress: Progress, now: Date): string {
  const { place, shownIn, base } = progress;
  const texts = [
    `${dayOf(now)}-${holder.createdAt.getTime()}`,
    base > place.revision ? base : 0,
    ...placeTexts(place),
    ...(shownIn ? [...placeTexts(shownIn), idText(shownIn.record)] : []),
  ];
  return encodePosition([holder.id, 'changes'], texts.join('.'));
}

/** @throws ApiError invalid_cursor unless it is a cursor of this account; cursor_expired */
export function decodeProgress(holder: Holder, cursor: string, now: Date): Progress {
  const place = decodePosition([holder.id, 'changes'], cursor);
  if (place === undefined || !PROGRESS.test(place)) throw invalidSince.error();
  const [given = '', base, ...texts] = place.split('.');
  // Those of 1.0.0 lack the creation time, so they have expired too.
  const [day, createdAt] = given.split('-').map(Number);
  const age = dayOf(now) - Number(day);
  // The clocks of servers may differ, but not by days.
  const isOfItsTime = age >= -1 && age <= DELETIONS_KEPT_DAYS && !IS_NUMBERED.test(texts[1] ?? '');
  if (!isOfItsTime || createdAt !== holder.createdAt.getTime()) throw cursorExpired.error();
  const record = storedId(texts[6]);
  return {
    place: placeOf(texts),
    base: Number(base),
    ...(record ? { shownIn: { ...placeOf(texts.slice(3)), record } } : {}),
  };
}

/** The moment from which the same progress has another cursor. */
export function nextDay(now: Date): Date {
  return new Date((dayOf(now) + 1) * DAY_MS);
}

/** The day in UTC. With a finer time every response would have another tag. */
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
