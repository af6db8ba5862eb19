import type { Item, Snooze, State, Store, Write } from './store';

const KINDS = ['plants', 'schedules', 'events', 'photos'] as const;

const emptyCopy = () => ({ plants: {}, schedules: {}, events: {}, photos: {}, snoozes: [] });

/** The response of `GET /api/changes`. */
interface Changes extends Record<(typeof KINDS)[number], Item[]> {
  /** The snoozes of these plants. */
  snoozes: Snooze[];
  deleted: { kind: string; id: string }[];
  nextCursor: string;
  hasMore: boolean;
}

interface Options {
  url: string;
  token: string;
  store: Store;
  timeoutMs?: number;
}

/** The request must be repeated later: there was no response, or one that asks to wait. */
class TryLater extends Error {
  constructor(readonly seconds?: number) {
    super('The service cannot be reached.');
  }
}

/** A copy of an account's records that can be read and changed offline. */
export class OfflineClient {
  #syncing: Promise<number> | undefined;
  #saved = Promise.resolve();
  #failures = 0;

  private constructor(
    readonly options: Options,
    /** The copy, the queue, and what the service rejected. */
    readonly state: State,
  ) {}

  /** Continues with the stored state. */
  static async open(options: Options): Promise<OfflineClient> {
    const empty: State = { ...emptyCopy(), queue: [], rejected: [] };
    const json = await options.store.load();
    return new OfflineClient(options, json === undefined ? empty : (JSON.parse(json) as State));
  }

  /** Queues a change. Returns its key, which later changes can use as the id of the record that it creates. */
  async write(change: Omit<Write, 'key'>): Promise<string> {
    const key = crypto.randomUUID();
    this.state.queue.push({ key, ...change });
    await this.#save();
    return key;
  }

  /** Sends the queue, then pulls changes. Returns 0, or the seconds to wait before the next attempt. */
  sync(): Promise<number> {
    this.#syncing ??= this.#sync().finally(() => (this.#syncing = undefined));
    return this.#syncing;
  }

  async #sync(): Promise<number> {
    try {
      for (let [next] = this.state.queue; next; [next] = this.state.queue) await this.#send(next);
      while (await this.#pullChanges());
      this.#failures = 0;
      return 0;
    } catch (error) {
      if (!(error instanceof TryLater)) throw error;
      this.#failures += 1;
      return error.seconds ?? Math.min(2 ** this.#failures, 60) * (0.5 + Math.random() / 2);
    }
  }

  async #send(write: Write): Promise<void> {
    const { status, body } = await this.#request(write.method, write.path, write);
    if (status === 401) throw new Error('The token is no longer valid.');
    const { id, code = '' } = body as { id?: string; code?: string };
    // A DELETE that gets 404 succeeded earlier.
    const isDone = status < 400 || (write.method === 'DELETE' && status === 404);
    // A rejected change would be rejected again.
    if (!isDone) this.state.rejected.push({ write, code });
    const rest = JSON.stringify(this.state.queue.slice(1));
    this.state.queue = JSON.parse(rest.replaceAll(write.key, id ?? write.key)) as Write[];
    await this.#save();
  }

  /** Applies one response. Returns whether there are more. */
  async #pullChanges(): Promise<boolean> {
    const { cursor } = this.state;
    const since = cursor === undefined ? '' : `?since=${encodeURIComponent(cursor)}`;
    const { status, body } = await this.#request('GET', `/api/changes${since}`);
    if (status === 410) {
      delete this.state.cursor;
      Object.assign(this.state, emptyCopy());
      return true;
    }
    if (status !== 200) throw new Error(`GET /api/changes failed with ${status}.`);
    const changes = body as Changes;
    for (const kind of KINDS) {
      for (const item of changes[kind]) this.state[kind][item.id] = item;
    }
    // A plant that comes without a snooze no longer has one.
    for (const { id } of changes.plants) this.#forgetSnoozes(id);
    this.state.snoozes.push(...changes.snoozes);
    for (const { id } of changes.deleted) this.#forget(id);
    // Saved together, so that the copy always matches its cursor.
    this.state.cursor = changes.nextCursor;
    await this.#save();
    return changes.hasMore;
  }

  #forget(gone: string): void {
    for (const kind of KINDS) {
      const kept = Object.entries(this.state[kind]).filter(
        // The deletion of a plant implies those of its events.
        ([id, { plantId }]) => id !== gone && (kind !== 'events' || plantId !== gone),
      );
      this.state[kind] = Object.fromEntries(kept);
    }
    this.#forgetSnoozes(gone);
  }

  #forgetSnoozes(plant: string): void {
    this.state.snoozes = this.state.snoozes.filter(({ plantId }) => plantId !== plant);
  }

  /** @throws TryLater if there is no response, or one that asks to wait */
  async #request(method: string, path: string, { body, key, ifMatch }: Partial<Write> = {}) {
    const { url, token, timeoutMs = 30_000 } = this.options;
    const headers = new Headers({ Authorization: `Bearer ${token}` });
    if (body) headers.set('Content-Type', 'application/json');
    if (method === 'POST' && key) headers.set('Idempotency-Key', key);
    if (ifMatch) headers.set('If-Match', ifMatch);
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body && { body: JSON.stringify(body) }),
      });
      const json = (await response.json()) as { code?: string };
      const { status } = response;
      if (status < 500 && status !== 429 && json.code !== 'idempotency_conflict') {
        return { status, body: json as unknown };
      }
      throw new TryLater(Number(response.headers.get('Retry-After')) || undefined);
    } catch (error) {
      throw error instanceof TryLater ? error : new TryLater();
    }
  }

  /** Saves one after the other, each with the state at its start. */
  #save(): Promise<void> {
    const before = this.#saved.catch(() => undefined);
    this.#saved = before.then(() => this.options.store.save(JSON.stringify(this.state)));
    return this.#saved;
  }
}
