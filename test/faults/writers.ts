import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, record, records, type Reply } from '../support/client';

/** Longer than any response may take: the service limits a write to ten seconds, plus a margin. */
const HANGS_MS = 15_000;

/** The current state of the service, and its faults. */
export interface Scene {
  url: string;
  /** Whether connections may break now, because the server is being killed. */
  serverMayBeDown: boolean;
  stopped: boolean;
  /** The number of acknowledged writes. */
  acknowledged: number;
  /** Wrong and missing responses. */
  faults: string[];
}

/** The acknowledged writes of a writer, which must be exactly the final state. */
export interface Kept {
  plantId: string;
  name: string;
  /** The texts of its events, by their ids. */
  events: Map<string, string>;
}

/** Writes to a plant of its own until it is stopped, and retries each write until it is acknowledged,
 * as a phone does; creations have a key, so that they take effect once.
 */
export class Writer {
  readonly kept: Kept = { plantId: '', name: '', events: new Map() };
  #client: { url: string; client: Client } | undefined;
  #count = 0;
  readonly #label: string;
  readonly #token: string;
  readonly #scene: Scene;

  constructor(label: string, token: string, scene: Scene) {
    this.#label = label;
    this.#token = token;
    this.#scene = scene;
  }

  async run(): Promise<void> {
    const { kept } = this;
    const scene = this.#scene;
    kept.name = `${this.#label} first`;
    kept.plantId = await this.#create('/api/plants', { name: kept.name });
    while (!scene.stopped) {
      this.#count += 1;
      await this.#write(this.#count % 6);
      scene.acknowledged += 1;
    }
  }

  async #write(kind: number): Promise<void> {
    const { kept } = this;
    const [oldest] = kept.events.keys();
    const text = `${this.#label} ${this.#count}`;
    if (kind === 0) {
      await this.#until([200], 'PATCH', `/api/plants/${kept.plantId}`, { name: text });
      kept.name = text;
    } else if (kind === 1 && oldest !== undefined) {
      await this.#delete(oldest);
      kept.events.delete(oldest);
    } else if (kind === 2 && oldest !== undefined) {
      await this.#delete(oldest);
      await this.#until([200], 'POST', `/api/events/${oldest}/restore`);
    } else if (kind === 3) {
      const logged = await this.#post('/api/events', { text, plantIds: [kept.plantId] });
      for (const { id } of records(logged['items'])) kept.events.set(String(id), text);
    } else {
      kept.events.set(await this.#create(`/api/plants/${kept.plantId}/events`, { text }), text);
    }
  }

  async #delete(event: string): Promise<void> {
    // An attempt whose response was lost may have deleted it.
    await this.#until([200, 404], 'DELETE', `/api/events/${event}`);
  }

  async #create(path: string, body: object): Promise<string> {
    return String((await this.#post(path, body))['id']);
  }

  async #post(path: string, body: object): Promise<Record<string, unknown>> {
    const headers = { 'idempotency-key': randomUUID() };
    const reply = await this.#until([201], 'POST', path, body, headers);
    return record(reply.body);
  }

  /** Retries a request until it gets an expected status. */
  async #until(
    statuses: readonly number[],
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    for (;;) {
      const reply = await this.#try(method, path, body, headers);
      if (reply && statuses.includes(reply.status)) return reply;
      // A request without a response because of a kill may still be running.
      const isPassing = reply === undefined || reply.status === 503 || reply.status === 409;
      if (!isPassing) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
      if (reply?.status === 503 && reply.headers['retry-after'] === undefined) {
        this.#scene.faults.push(`${method} ${path}: 503 without Retry-After`);
      }
      await sleep(50);
    }
  }

  async #try(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Reply | undefined> {
    const scene = this.#scene;
    if (this.#client?.url !== scene.url) {
      this.#client = { url: scene.url, client: new Client(scene.url, this.#token) };
    }
    const sentDuringKill = scene.serverMayBeDown;
    try {
      return await this.#client.client.send(method, path, { body, headers, within: HANGS_MS });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isExcused = sentDuringKill || scene.serverMayBeDown;
      if (!isExcused || reason.includes('abort')) {
        scene.faults.push(`${method} ${path}: no answer (${reason})`);
      }
      return undefined;
    }
  }
}

/** Expects an account to have exactly the acknowledged writes of its writers. */
export async function expectExactly(client: Client, writers: readonly Writer[]): Promise<void> {
  const plants = records((await client.send('GET', '/api/plants')).body);
  const kept = writers.map((writer) => writer.kept);
  const names = (list: readonly { name?: unknown }[]) => list.map(({ name }) => name).sort();
  expect(names(plants)).toEqual(names(kept));
  for (const { plantId, events } of kept) {
    expect(await eventsOf(client, plantId)).toEqual(events);
  }
  const totalEvents = kept.reduce((sum, { events }) => sum + events.size, 0);
  const insights = record((await client.send('GET', '/api/insights')).body);
  expect(insights['overview']).toMatchObject({ totalPlants: plants.length, totalEvents });
}

/** The texts of all events of a plant, by id. */
export async function eventsOf(client: Client, plantId: string): Promise<Map<string, string>> {
  const path = `/api/plants/${plantId}/events?limit=100`;
  const events = new Map<string, string>();
  let next: string | null = path;
  while (next !== null) {
    const page = record((await client.send('GET', next)).body);
    for (const { id, text } of records(page['items'])) events.set(String(id), String(text));
    const cursor = page['nextCursor'] as string | null; // docs/specification.md, 2.10
    next = cursor && `${path}&cursor=${cursor}`;
  }
  return events;
}
