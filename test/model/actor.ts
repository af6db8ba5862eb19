import { randomUUID } from 'node:crypto';

import { type Client, record, records, type Reply } from '../support/client';
import { Copy, listed } from '../support/copy';
import type { Garden } from './model';
import type { Answer, Made } from './records';

/** What all actors of a run share. */
export interface World {
  /** A moment that stays the same during a run, so that events often share their moment. */
  readonly base: number;
  /** Every id that was ever made, whoever's it is and whether it is still there. */
  readonly known: Record<Kind, string[]>;
}

export type Kind = 'plants' | 'events' | 'photos';

/** Which record a command is about: mostly one of the actor's own, by its place. */
export interface Target {
  kind: 'own' | 'known' | 'missing' | 'malformed';
  pick: number;
}

/** A page-by-page reading of a list while the actor goes on writing. */
export interface Walk {
  plantId: string;
  limit: number;
  cursor: string;
  seen: string[];
  /** When each event that was there at the start had last changed. */
  atStart: Map<string, string>;
}

/** One user and what the model says of their account. */
export class Actor {
  walk: Walk | undefined;
  /** What a phone of the user keeps, brought up to date now and then. */
  readonly #copy = new Copy();
  readonly #client: Client;

  constructor(
    readonly garden: Garden,
    readonly world: World,
    client: Client,
  ) {
    this.#client = client;
  }

  /** The id that a target stands for now; undefined while there is nothing to choose from. */
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

  /** Sends a request, asks the model for the answer and compares. */
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

  /** As {@link expect}, for what makes a record; with `again` it is sent twice under one key. */
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

  /** As {@link expect}, for what makes several records at once. */
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

  /** Brings the copy that is built from changes alone up to date, and compares it with the lists. */
  async expectCopy(): Promise<void> {
    await this.#copy.sync(this.#client);
    const lists = await listed(this.#client, this.world.known.photos);
    same(this.#copy.contents, lists, 'the copy built from changes');
  }

  /** What the server made, as far as it can be right. */
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

/** What of an answer is compared: bodies of errors by their code, as their words are free. */
function visible(reply: Reply, answer?: Answer): object {
  const { status, body } = reply;
  if (!answer || 'body' in answer) return { status, body };
  const { error, code } = record(body);
  return typeof error === 'string' && error !== '' ? { status, code } : { status, body };
}

/** Throws, showing the difference, unless the two are equal. */
export function same(actual: unknown, expected: unknown, what: string): void {
  try {
    expect(actual).toEqual(expected);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${what}: ${reason}`, { cause: error });
  }
}
