import { idText } from '../../src/core/ids';
import type { AccountScope } from '../../src/data/models';
import type { Progress, SourcePlace } from './cursor';
import type { Change, Source } from './source';

/** A change at its place in the order of all. */
export interface Entry {
  change: Change;
  source: Source;
  /** How far a copy has come with it. */
  progress: Progress;
}

/** The place before all others. */
const FIRST: SourcePlace = { revision: -1, source: 0 };

/** The changes of an account in their order: by revision, source and id. */
export class Feed {
  readonly #sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /** The place after all of a revision. */
  endOf(revision: number): SourcePlace {
    return { revision, source: this.#sources.length };
  }

  /**
   * The next changes, `limit` of them where there are as many, and perhaps more. After a record that
   * others show come those that last changed before it did: they are shown otherwise now.
   */
  async *after(
    scope: AccountScope,
    progress: Progress,
    limit: number,
  ): AsyncGenerator<Entry, void> {
    yield* this.#stillShowing(scope, progress, limit);
    const entries = await this.#next(scope, progress, limit);
    const isShownByOthers = await this.#isAnyShownByOthers(scope, entries);
    for (const entry of entries) {
      yield entry;
      if (isShownByOthers) yield* this.#stillShowing(scope, entry.progress, limit);
    }
  }

  async #next(scope: AccountScope, { place, base }: Progress, limit: number): Promise<Entry[]> {
    let entries: Entry[] = [];
    // One after the other: they share a session.
    for (const [index, source] of this.#sources.entries()) {
      const after = placeIn(index, place);
      // What was deleted before a copy was begun was never in it.
      const from = source.field === 'deleted' && after.revision < base ? { revision: base } : after;
      // Of what comes after as many as are wanted nothing is read.
      const before = entries[limit - 1]?.progress.place.revision ?? Infinity;
      for (const change of await source.after(scope, { after: from, before, limit })) {
        const { revision, id, shownByOthers: record } = change;
        const progress = { place: { revision, source: index, id }, base };
        // What a new copy has got so far showed it as it was by then.
        const shownIn = record && revision > base && { ...FIRST, record };
        entries.push({ change, source, progress: { ...progress, ...(shownIn && { shownIn }) } });
      }
      entries = entries.sort(byPlace).slice(0, limit);
    }
    return entries;
  }

  async #isAnyShownByOthers(scope: AccountScope, entries: readonly Entry[]): Promise<boolean> {
    const records = entries.flatMap(({ change }) => change.shownByOthers ?? []);
    if (records.length === 0) return false;
    const before = Math.max(...entries.map(({ change }) => change.revision));
    for (const source of this.#sources) {
      if (await source.anyReferringTo(scope, records, before)) return true;
    }
    return false;
  }

  /** Those that show the record at whose place a copy is, as far as it has not got them. */
  async *#stillShowing(
    scope: AccountScope,
    { place, shownIn, base }: Progress,
    limit: number,
  ): AsyncGenerator<Entry> {
    if (!shownIn) return;
    const { record } = shownIn;
    for (const [index, source] of this.#sources.entries()) {
      if (index < shownIn.source) continue;
      const after = index === shownIn.source ? shownIn : { revision: -1 };
      const range = { after, before: place.revision, limit };
      for (const change of await source.referringTo(scope, record, range)) {
        const { revision, id } = change;
        const reached = { place, base, shownIn: { revision, source: index, id, record } };
        yield { change, source, progress: reached };
      }
    }
  }
}

/** From where on a source is read at a place in the order of all. */
function placeIn(source: number, place: SourcePlace) {
  if (source === place.source) return place;
  return { revision: source < place.source ? place.revision : place.revision - 1 };
}

function byPlace(a: Entry, b: Entry): number {
  const [one, other] = [a.progress.place, b.progress.place];
  return (
    one.revision - other.revision ||
    one.source - other.source ||
    (idText(a.change.id) < idText(b.change.id) ? -1 : 1)
  );
}
