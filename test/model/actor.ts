import { randomUUID } from 'node:crypto';

import { type Client, record, records, type Reply } from '../support/client';
import { Copy, listed } from '../support/copy';
import type { Garden } from './model';
import type { Answer, Made } from './records';

/** The state that all actors of a run share. */
export interface World {
  /** A constant moment, so that events often occur at the same time. */
  readonly base: number;
  /** Every id that ever existed, of any actor. */
  readonly known: Record<Kind, string[]>;
}

export type Kind = 'plants' | 'events' | 'photos';

/** The record of a command: mostly one of the actor's own, by position. */
export interface Target {
  kind: 'own' | 'known' | 'missing' | 'malformed';
  pick: number;
}

/** Reads a list page by page while the actor keeps writing. */
interface Walk {
  plantId: string;
  limit: number;
  cursor: string;
  seen: string[];
  /** When each event that existed at the start was last changed. */
  atStart: Map<string, string>;
}

/** A user, and the model of their account. */
export class Actor {
  walk: Walk | undefined;
  /** The copy on a phone of the user, which is synced now and then. */
  readonly #copy = new Copy();
  readonly #client: Client;

  constructor(
    readonly garden: Garden,
    readonly world: World,
    client: Client,
  ) {
    this.#client = client;
  }

  /** The id of a target now; undefined if there are no records. */
  id(kind: Kind, { kind: whose, pick }: Target): string | undefined {
    if (whose === 'malformed') return `no-id-${pick}`;
    if (whose === 'missing') return randomUUID();
    const all = whose === 'own' ? [...this.garden[kind].keys()] : this.world.known[kind];
    return all[pick % all.length];
  }

  owns(kind: Kind, id: string): boolean {
    return this.garden[kind].has(id);
  }

  get(path: string): Promise<Reply> {
    return this.send('GET', path);
  }

  send(method: string, path: string, body?: object): Promise<Reply> {
    return this.#client.send(method, path, { body });
  }

  /** Sends a request, and compares the response with the model's. */
  async expect(
    method: string,
    path: string,
    body: object | undefined,
    answerOf: (made: Made) => Answer,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const started = Date.now();
    const reply = await this.#client.send(method, path, { body, headers });
    const answer = answerOf(this.#made(reply, started));
    same(visible(reply, answer), answer, `${method} ${path} ${JSON.stringify(body ?? '')}`);
    return reply;
  }

  /** Like {@link expect}, for requests that create a record; with `again` it is sent twice with one key. */
  async create(
    kind: Kind,
    path: string,
    body: object,
    again: boolean,
    answerOf: (made: Made) => Answer,
  ): Promise<void> {
    const headers = again ? { 'idempotency-key': randomUUID() } : {};
    const reply = await this.expect('POST', path, body, answerOf, headers);
    if (reply.status !== 201) return;
    this.world.known[kind].push(String(record(reply.body)['id']));
    if (!again) return;
    const replayed = await this.#client.send('POST', path, { body, headers });
    same(visible(replayed), visible(reply), `POST ${path} again`);
    same(replayed.headers['idempotent-replayed'], 'true', `POST ${path} again`);
  }

  /** Like {@link expect}, for requests that create several records. */
  async expectAll(
    method: string,
    path: string,
    body: object,
    answerOf: (madeOf: (index: number) => Made) => Answer,
  ): Promise<Reply> {
    const started = Date.now();
    const reply = await this.send(method, path, body);
    const items = reply.status === 201 ? records(record(reply.body)['items']) : [];
    const answer = answerOf((index) => this.#made({ ...reply, body: items[index] ?? {} }, started));
    same(visible(reply, answer), answer, `${method} ${path} ${JSON.stringify(body)}`);
    return reply;
  }

  /** Syncs the copy, and compares it with the lists. */
  async expectCopy(): Promise<void> {
    await this.#copy.sync(this.#client);
    const lists = await listed(this.#client, this.world.known.photos);
    same(this.#copy.contents, lists, 'the copy built from changes');
  }

  /** The values that the server generated, if they are plausible. */
  #made(reply: Reply, started: number): Made {
    const finished = Date.now();
    const body = record(reply.body);
    return {
      id: () => {
        const id = String(body['id']);
        const isNew = !Object.values(this.world.known).some((ids) => ids.includes(id));
        return isNew ? id : 'an id that is new';
      },
      at: (field) => {
        const moment = String(body[field]);
        const at = Date.parse(moment);
        return at >= started && at <= finished ? moment : 'a moment during the request';
      },
    };
  }
}

/** The compared part of a response: errors only by their code. */
function visible(reply: Reply, answer?: Answer): object {
  const { status, body } = reply;
  if (!answer || 'body' in answer) return { status, body };
  const { error, code } = record(body);
  return typeof error === 'string' && error !== '' ? { status, code } : { status, body };
}

/** Throws with the difference unless both are equal. */
export function same(actual: unknown, expected: unknown, what: string): void {
  try {
    expect(actual).toEqual(expected);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}: ${reason}`, { cause: error });
  }
}
