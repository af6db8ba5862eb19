import { idText } from '../../src/core/ids';
import type { Stored } from '../../src/data/changes/changes';
import type { Tenant } from '../../src/data/model/models';
import { END, type Progress, type SourcePlace } from './cursor';
import { DELETED, FIRST, type Source } from './source';

/** A change at its place in the order of all. */
export interface Entry {
  document: Stored;
  source: Source;
  meaning: ReturnType<Source['meaningOf']>;
  /** How far a copy has come with it. */
  progress: Progress;
}

/** The place before all others. */
const START: SourcePlace = { revision: -1, source: FIRST };

/** The place after all of a revision. */
export function endOf(revision: number): SourcePlace {
  return { revision, source: END };
}

/** The changes of an account in their order: by revision, source and id. */
export class Feed {
  readonly #sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /**
   * The next changes, `limit` of them where there are as many, and perhaps more. After a record that
   * others show come those that last changed before it did: they are shown otherwise now.
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
    // One after the other: they share a session.
    for (const source of this.#sources) {
      const after = placeIn(source, place);
      // What was deleted before a copy was begun was never in it.
      const from = source.list === DELETED && after.revision < base ? { revision: base } : after;
      // Of what comes after as many as are wanted nothing is read.
      const before = entries[limit - 1]?.progress.place.revision ?? Infinity;
      const found = await source.records.after(tenant, { after: from, before, limit });
      const further = found.map((document) => entryOf(document, source, base));
      // Each source has its changes in order.
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

  /** Those that show the record at whose place a copy is, as far as it has not got them. */
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
  // What a new copy has got so far showed it as it was by then.
  const record = revision > base ? meaning.embedded : undefined;
  const progress = { place, base, ...(record && { shownIn: { ...START, record } }) };
  return { document, source, meaning, progress };
}

/** From where on a source is read at a place in the order of all. */
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
