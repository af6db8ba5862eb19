import type { Account } from '../../src/core/identity';
import { idText } from '../../src/core/ids';
import { takePage } from '../../src/core/text/json';
import { chunksOf } from '../../src/core/values';
import type { ChangedList } from '../../src/data/changes/changes';
import type { Tenant } from '../../src/data/model/models';
import type { Host } from '../../src/plugins/host';
import { cursorExpired, decodeProgress, encodeProgress, type Progress } from './cursor';
import { endOf, type Entry, Feed } from './feed';
import type { Changes, ChangesQuery } from './schema';
import { DELETED, sourcesOf } from './source';

/** Records presented at a time; a response may end at any of them. */
const SHOWN_AT_ONCE = 50;

/** Changes of an account, for clients that keep a copy. */
export class ChangeService {
  readonly #host: Host;
  readonly #lists: readonly ChangedList[];
  readonly #feed: Feed;

  constructor(host: Host, lists: readonly ChangedList[]) {
    this.#host = host;
    this.#lists = lists;
    this.#feed = new Feed(sourcesOf(host, lists));
  }

  /**
   * The changes since a cursor, or everything without one; the response ends early if it would be too long.
   *
   * @throws ApiError invalid_cursor, cursor_expired
   */
  list(account: Account, { since, limit }: ChangesQuery, now: Date): Promise<Changes> {
    const { id: userId, revision } = account;
    const begin: Progress = { place: endOf(-1), base: revision };
    const progress = since === undefined ? begin : decodeProgress(account, since, now);
    // From a state that is lost, such as before the restore of a backup.
    if (progress.place.revision > revision) throw cursorExpired.error();
    return this.#host.snapshot(async (session) => {
      const tenant = { userId, session };
      const { entries, hasMore } = await this.#collect(tenant, progress, limit);
      const views = await takePage(present(tenant, entries));
      const shown = entries.slice(0, views.length);
      const isCut = hasMore || shown.length < entries.length;
      const last = shown.at(-1)?.progress ?? progress;
      // A complete copy has everything that was written before this request.
      const end = endOf(Math.max(revision, last.place.revision));
      const reached = isCut ? last : { place: end, base: 0 };
      return {
        ...(await this.#byList(tenant, shown, views)),
        nextCursor: encodeProgress(account, reached, now),
        hasMore: isCut,
      };
    });
  }

  /** The changes of a response, which ends before a record that was added again after its deletion. */
  async #collect(tenant: Tenant, progress: Progress, limit: number) {
    const entries: Entry[] = [];
    const deleted = new Set<string>();
    for await (const entry of this.#feed.after(tenant, progress, limit + 1)) {
      const { keys, deletes } = entry.meaning;
      if (entries.length === limit || keys.some((key) => deleted.has(key))) {
        return { entries, hasMore: true };
      }
      entries.push(entry);
      if (deletes !== undefined) deleted.add(deletes);
    }
    return { entries, hasMore: false };
  }

  async #byList(
    tenant: Tenant,
    entries: readonly Entry[],
    views: readonly unknown[],
  ): Promise<Record<string, unknown[]>> {
    const viewsOf = (name: string): unknown[] =>
      views.filter((view, index) => view !== null && entries[index]?.source.list === name);
    const byList: Record<string, unknown[]> = {};
    for (const { name, kind, model, present } of this.#lists) {
      const owner = this.#lists.find((each) => each.model && each.kind === kind);
      byList[name] = model ? viewsOf(name) : [...(await present(tenant, distinct(entries, owner)))];
    }
    return { ...byList, [DELETED]: viewsOf(DELETED) };
  }
}

/** The records of a list, each once: a record occurs twice if what it embeds has changed after it. */
function distinct(entries: readonly Entry[], list: ChangedList | undefined) {
  const documents = entries.flatMap(({ source, document }) =>
    source.list === list?.name ? document : [],
  );
  return [...new Map(documents.map((each) => [idText(each._id), each])).values()];
}

/** The views of changes, in order; null for records that are out of reach. */
async function* present(tenant: Tenant, entries: readonly Entry[]): AsyncGenerator<unknown[]> {
  for (const group of chunksOf(entries, SHOWN_AT_ONCE)) {
    const views = new Map<Entry, unknown>();
    for (const source of new Set(group.map((entry) => entry.source))) {
      const own = group.filter((entry) => entry.source === source);
      const documents = own.map(({ document }) => document);
      const shown = await source.present(tenant, documents);
      own.forEach((entry, index) => views.set(entry, shown[index]));
    }
    yield group.map((entry) => views.get(entry) ?? null);
  }
}
