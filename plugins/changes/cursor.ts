import { decodePlace, encodePlace } from '../../src/core/cursor';
import { idText, isUuid, toStoredId, type StoredId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { RevisionPlace } from '../../src/data/changes';
import { DELETIONS_KEPT_DAYS } from '../../src/data/deletions';
import { cursorExpired, invalidSince } from './errors';

/** A place among the records of one source. */
export interface SourcePlace extends RevisionPlace {
  /** Which source; beyond the last one where all of the revision is done with. */
  source: number;
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

/** The cursor of an account for a copy that has come so far by `now`. */
export function encodeProgress(userId: string, progress: Progress, now: Date): string {
  const { place, shownIn, base } = progress;
  const texts = [
    dayOf(now),
    base > place.revision ? base : 0,
    ...placeTexts(place),
    ...(shownIn ? [...placeTexts(shownIn), idText(shownIn.record)] : []),
  ];
  return encodePlace([userId, 'changes'], texts.join('.'));
}

/** @throws ApiError invalid_cursor for what is not a cursor of this account, cursor_expired */
export function decodeProgress(userId: string, cursor: string, now: Date): Progress {
  const place = decodePlace([userId, 'changes'], cursor);
  if (place === undefined) throw invalidSince.error();
  const [day, base, ...texts] = place.split('.');
  if (dayOf(now) - Number(day) > DELETIONS_KEPT_DAYS) throw cursorExpired.error();
  const record = storedId(texts[6]);
  return {
    place: placeOf(texts),
    base: Number(base),
    ...(record ? { shownIn: { ...placeOf(texts.slice(3)), record } } : {}),
  };
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

function placeOf([revision, source, id]: readonly string[]): SourcePlace {
  return { revision: Number(revision), source: Number(source), id: storedId(id) };
}

function storedId(text = ''): StoredId | undefined {
  return isUuid(text) ? toStoredId(text) : undefined;
}
