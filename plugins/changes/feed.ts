import { idText } from '../../src/core/ids';
import type { Stored } from '../../src/data/changes/changes';
import type { Tenant } from '../../src/data/model/models';
import { END, type Progress, type SourcePlace } from './cursor';
import { DELETED, FIRST, type Source } from './source';

/** A change with its place in the order of all changes. */
export interface Entry {
  document: Stored;
  source: Source;
  meaning: ReturnType<Source['meaningOf']>;
  /** The progress of a copy that has applied it. */
  progress: Progress;
}

/** The first place of all. */
const START: SourcePlace = { revision: -1, source: FIRST };

/** The place after all changes of a revision. */
export function endOf(revision: number): SourcePlace {
  return { revision, source: END };
}

/** The changes of an account, by revision, source and id. */
export class Feed {
  readonly #sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /**
   * The next changes: `limit` of them if there are as many, or a few more. A record that others embed is
   * followed by those that last changed before it, since their views have changed with it.
   */
  async *after(tenant: Tenant, progress: Progress, limit: number): AsyncGenerator<Entry, void> {
    yield* this.#stillShowing(tenant, progress, limit);
    const entries = await this.#next(tenant, progress, limit);
    const isShownByOthers = await this.#isAnyShownByOthers(tenant, entries);
    for (const entry of entries) {
      yield entry;
      if (isShownByOthers) yield* this.#stillShowing(tenant, entry.progress, limit);
    }
  }

  async #next(tenant: Tenant, { place, base }: Progress, limit: number): Promise<Entry[]> {
    let entries: Entry[] = [];
    // One after another, since they share a session.
    for (const source of this.#sources) {
      const after = placeIn(source, place);
      // A copy never had what was deleted before it was begun.
      const from = source.list === DELETED && after.revision < base ? { revision: base } : after;
      // Nothing is read beyond the number that is needed.
      const before = entries[limit - 1]?.progress.place.revision ?? Infinity;
      const found = await source.records.after(tenant, { after: from, before, limit });
      const further = found.map((document) => entryOf(document, source, base));
      // Each source is in order already.
      const isInOrder = entries.length === 0 || further.length === 0;
      entries = [...entries, ...further];
      if (!isInOrder) entries = entries.sort(byPlace).slice(0, limit);
    }
    return entries;
  }

  async #isAnyShownByOthers(tenant: Tenant, entries: readonly Entry[]): Promise<boolean> {
    const embedded = entries.flatMap(({ meaning }) => meaning.embedded ?? []);
    if (embedded.length === 0) return false;
    const before = Math.max(...entries.map(({ document }) => document.revision));
    for (const { records } of this.#sources) {
      if (await records.anyReferringTo(tenant, embedded, before)) return true;
    }
    return false;
  }

  /** The records that embed the one at which a copy has stopped, without those that it already has. */
  async *#stillShowing(
    tenant: Tenant,
    { place, shownIn, base }: Progress,
    limit: number,
  ): AsyncGenerator<Entry> {
    if (!shownIn) return;
    const { record } = shownIn;
    for (const source of this.#sources) {
      const { name } = source;
      if (name < shownIn.source) continue;
      const after = name === shownIn.source ? shownIn : { revision: -1 };
      const range = { after, before: place.revision, limit };
      for (const document of await source.records.referringTo(tenant, record, range)) {
        const { revision, _id: id } = document;
        const reached = { place, base, shownIn: { revision, source: name, id, record } };
        yield { document, source, meaning: source.meaningOf(document), progress: reached };
      }
    }
  }
}

/** @param base as in {@link Progress} */
function entryOf(document: Stored, source: Source, base: number): Entry {
  const { revision, _id: id } = document;
  const meaning = source.meaningOf(document);
  const place = { revision, source: source.name, id };
  // A new copy has only views that already embed it in this state.
  const record = revision > base ? meaning.embedded : undefined;
  const progress = { place, base, ...(record && { shownIn: { ...START, record } }) };
  return { document, source, meaning, progress };
}

/** The place from which a source is read, given a place in the order of all changes. */
function placeIn({ name }: Source, place: SourcePlace) {
  if (name === place.source) return place;
  return { revision: name < place.source ? place.revision : place.revision - 1 };
}

function byPlace(a: Entry, b: Entry): number {
  const [one, other] = [a.document, b.document];
  return (
    one.revision - other.revision ||
    compare(a.source.name, b.source.name) ||
    compare(idText(one._id), idText(other._id))
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
