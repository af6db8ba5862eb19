import { type Client, record, records } from './client';

type Item = Record<string, unknown>;

/** A response of `GET /api/changes`. */
interface ChangesPage {
  plants: Item[];
  events: Item[];
  photos: Item[];
  schedules: Item[];
  snoozes: Item[];
  deleted: Item[];
  nextCursor: string;
  hasMore: boolean;
}

export async function changesSince(
  client: Client,
  since?: string,
  limit?: number,
): Promise<ChangesPage> {
  const query = new URLSearchParams({
    ...(since === undefined ? {} : { since }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  });
  const { status, body } = await client.send('GET', `/api/changes?${query.toString()}`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  const { plants, events, photos, schedules, snoozes, deleted, nextCursor, hasMore } = record(body);
  return {
    plants: records(plants),
    events: records(events),
    photos: records(photos),
    schedules: records(schedules),
    snoozes: records(snoozes),
    deleted: records(deleted),
    nextCursor: String(nextCursor),
    hasMore: hasMore === true,
  };
}

/** A copy of an account's records, as an app keeps it, built from changes alone. */
export class Copy {
  readonly plants = new Map<string, Item>();
  readonly events = new Map<string, Item>();
  readonly photos = new Map<string, Item>();
  readonly schedules = new Map<string, Item>();
  /** By plant, and type or schedule. */
  readonly snoozes = new Map<string, Item>();
  cursor: string | undefined;
  /** The number of responses that it has applied. */
  applied = 0;

  /** Applies one response, as docs/api.md says; returns whether there are more. */
  async step(client: Client, limit?: number): Promise<boolean> {
    const page = await changesSince(client, this.cursor, limit);
    for (const field of ['plants', 'schedules', 'events', 'photos'] as const) {
      for (const item of page[field]) this[field].set(String(item['id']), item);
    }
    for (const { id } of page.plants) this.#deleteSnoozes(id);
    for (const item of page.snoozes) {
      const what = String(item['scheduleId'] ?? item['type']);
      this.snoozes.set(`${String(item['plantId'])} ${what}`, item);
    }
    for (const { kind, id } of page.deleted) this.#delete(String(kind), String(id));
    this.cursor = page.nextCursor;
    this.applied += 1;
    return page.hasMore;
  }

  /** Applies responses until there are no more. */
  async sync(client: Client, limit?: () => number): Promise<void> {
    while (await this.step(client, limit?.()));
  }

  /** All records, sorted. */
  get contents() {
    return {
      plants: byId(this.plants),
      events: byId(this.events),
      photos: byId(this.photos),
      schedules: byId(this.schedules),
      snoozes: sorted([...this.snoozes.values()]),
    };
  }

  #delete(kind: string, id: string): void {
    if (kind === 'event') this.events.delete(id);
    if (kind === 'photo') this.photos.delete(id);
    if (kind === 'schedule') this.schedules.delete(id);
    if (kind !== 'plant') return;
    this.plants.delete(id);
    this.#deleteSnoozes(id);
    for (const [eventId, { plantId }] of this.events) {
      if (plantId === id) this.events.delete(eventId);
    }
  }

  #deleteSnoozes(plant: unknown): void {
    for (const [key, { plantId }] of this.snoozes) if (plantId === plant) this.snoozes.delete(key);
  }
}

/** The same records as the lists of the API show them, and photos by id. */
export async function listed(client: Client, photoIds: readonly string[]) {
  const get = async (path: string) => (await client.send('GET', path)).body;
  const plants = records(await get('/api/plants?status=all'));
  const events: Item[] = [];
  const schedules: Item[] = [];
  for (const { id } of plants) {
    for (const item of records(await get(`/api/plants/${String(id)}/schedules`))) {
      // Changes do not have it: it moves with each care and each day.
      const { dueOn: _, ...stored } = item;
      schedules.push(stored);
    }
  }
  let cursor = '';
  do {
    const page = record(await get(`/api/events?limit=100${cursor}`));
    events.push(...records(page['items']));
    cursor = page['hasMore'] === true ? `&cursor=${String(page['nextCursor'])}` : '';
  } while (cursor !== '');
  const photos: Item[] = [];
  for (const id of photoIds) {
    const { status, body } = await client.send('GET', `/api/photos/${id}`);
    if (status === 200) photos.push(record(body));
  }
  const mapOf = (items: readonly Item[]) =>
    new Map(items.map((item) => [String(item['id']), item]));
  const due = records(record(await get('/api/care?dueBy=9999-12-31'))['items']);
  const snoozes = due.flatMap(({ plantId, type, scheduleId, snoozedUntil: until }) =>
    until === null ? [] : [{ plantId, type, ...(scheduleId !== null && { scheduleId }), until }],
  );
  return {
    plants: byId(mapOf(plants)),
    events: byId(mapOf(events)),
    photos: byId(mapOf(photos)),
    schedules: byId(mapOf(schedules)),
    snoozes: sorted(snoozes),
  };
}

function sorted(items: readonly Item[]): Item[] {
  return [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function byId(items: ReadonlyMap<string, Item>): Item[] {
  return [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}
