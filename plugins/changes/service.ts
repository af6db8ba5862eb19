import type { Account } from '../../src/core/identity';
import { firstOfPage } from '../../src/core/json-array';
import { chunksOf } from '../../src/core/values';
import type { AccountScope } from '../../src/data/models';
import type { Host } from '../../src/plugins/host';
import { decodeProgress, encodeProgress, type Progress } from './cursor';
import { cursorExpired } from './errors';
import { type Entry, Feed } from './feed';
import type { Changes, ChangesQuery } from './schema';
import { type Change, type Dependencies, type Field, sourcesOf } from './source';

/** How many records are shown at a time: an answer may end at any of them. */
const SHOWN_AT_ONCE = 50;

/** A record as it is shown, and where; the view is undefined for one that is out of reach. */
interface Shown {
  field: Field;
  view: unknown;
  snoozes: Change['snoozes'];
}

/** What changed in the data of an account, for those who keep a copy of it. */
export class ChangeService {
  readonly #host: Host;
  readonly #feed: Feed;

  constructor(host: Host, dependencies: Dependencies) {
    this.#host = host;
    this.#feed = new Feed(sourcesOf(host, dependencies));
  }

  /**
   * What changed since a cursor, or all that is there; it ends early where it would be too long.
   *
   * @throws ApiError invalid_cursor, cursor_expired
   */
  list(account: Account, { since, limit }: ChangesQuery, now: Date): Promise<Changes> {
    const { id: userId, revision } = account;
    const begin: Progress = { place: this.#feed.endOf(-1), base: revision };
    const progress = since === undefined ? begin : decodeProgress(account, since, now);
    // Of a state that is no more, such as before a backup was restored.
    if (progress.place.revision > revision) throw cursorExpired.error();
    return this.#host.snapshot(async (session) => {
      const scope = { userId, session };
      const { entries, hasMore } = await this.#collect(scope, progress, limit);
      const shown = await firstOfPage(present(scope, entries));
      const isCut = hasMore || shown.length < entries.length;
      const last = entries[shown.length - 1]?.progress ?? progress;
      // All that was written before this call is in a copy that has got all there is.
      const end = this.#feed.endOf(Math.max(revision, last.place.revision));
      const reached = isCut ? last : { place: end, base: 0 };
      const cursor = encodeProgress(account, reached, now);
      return { ...byField(shown), nextCursor: cursor, hasMore: isCut };
    });
  }

  /** The changes of an answer; it ends before one that came back after it was deleted in it. */
  async #collect(scope: AccountScope, progress: Progress, limit: number) {
    const entries: Entry[] = [];
    const deleted = new Set<string>();
    for await (const entry of this.#feed.after(scope, progress, limit + 1)) {
      const { keys, deletes } = entry.change;
      if (entries.length === limit || keys.some((key) => deleted.has(key))) {
        return { entries, hasMore: true };
      }
      entries.push(entry);
      if (deletes !== undefined) deleted.add(deletes);
    }
    return { entries, hasMore: false };
  }
}

async function* present(scope: AccountScope, entries: readonly Entry[]): AsyncGenerator<Shown[]> {
  for (const group of chunksOf(entries, SHOWN_AT_ONCE)) {
    const views = new Map<Entry, unknown>();
    for (const source of new Set(group.map((entry) => entry.source))) {
      const own = group.filter((entry) => entry.source === source);
      const shown = await source.present(
        scope,
        own.map(({ change }) => change),
      );
      own.forEach((entry, index) => views.set(entry, shown[index]));
    }
    yield group.map((entry) => ({
      field: entry.source.field,
      view: views.get(entry),
      snoozes: entry.change.snoozes,
    }));
  }
}

function byField(shown: readonly Shown[]): Pick<Changes, Field | 'snoozes'> {
  const viewsOf = (field: Field): unknown[] =>
    shown.flatMap((each) => (each.field === field ? (each.view ?? []) : []));
  // A plant comes twice where its photo changed after it.
  const snoozes = new Map(
    shown
      .flatMap(({ snoozes: ofPlant = [] }) => ofPlant)
      .map((snooze) => [`${snooze.plantId} ${snooze.type}`, snooze] as const),
  );
  // Of deletions all sources show the same.
  const deleted = viewsOf('deleted') as Changes['deleted'];
  return {
    plants: viewsOf('plants'),
    events: viewsOf('events'),
    photos: viewsOf('photos'),
    snoozes: [...snoozes.values()],
    deleted,
  };
}
