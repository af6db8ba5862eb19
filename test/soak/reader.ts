import { setTimeout as sleep } from 'node:timers/promises';

import type { Scene, Writer } from '../faults/writers';
import { Client, record, type Reply } from '../support/client';

/** The id of no photo. */
const NO_PHOTO = crypto.randomUUID();

const CODINGS = ['identity', 'gzip', 'br'];

interface Question {
  method: 'GET' | 'POST';
  path: string;
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

/** The requests of a kind: how many were sent, and how many got the expected response. */
interface Tally {
  asked: number;
  answered: number;
}

/** Reads a writer's records, and requests unknown ones, until the scene ends. */
export class Reader {
  /** By method and path, without the query. */
  readonly tallies = new Map<string, Tally>();
  /** Its cursor of changes, as part of the query. */
  #since = '';
  readonly #client: Client;
  readonly #writer: Writer;
  readonly #scene: Scene;

  constructor(token: string, writer: Writer, scene: Scene) {
    this.#client = new Client(scene.url, token);
    this.#writer = writer;
    this.#scene = scene;
  }

  async run(): Promise<void> {
    for (let count = 0; !this.#scene.stopped; count += 1) {
      const questions = this.#questions();
      const question = questions[count % questions.length];
      const coding = CODINGS[Math.floor(count / questions.length) % CODINGS.length] ?? '';
      if (question) await this.#ask(question, coding);
      await sleep(20);
    }
    this.#client.close();
  }

  #questions(): Question[] {
    const { plantId } = this.#writer.kept;
    const plant = `/api/plants/${plantId}`;
    const good = [
      '/api/plants',
      '/api/insights',
      '/api/locations',
      '/api/announcements',
      '/readyz',
      '/api/care',
      '/api/photos',
      '/api/events?q=1&limit=20',
      '/api/events?type=watered',
      `/api/changes?limit=500${this.#since}`,
      ...(plantId === '' ? [] : [plant, `${plant}/events?limit=50`]),
    ].map((path) => ({ method: 'GET', path, status: 200 }) as const);
    const params = { name: 'list_plants', arguments: {} };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return [
      ...good,
      { method: 'POST', path: '/api/mcp', status: 200, body: call },
      { method: 'GET', path: '/api/photos?limit=0', status: 400 },
      { method: 'POST', path: '/api/plants', status: 400, body: { name: 1 } },
      { method: 'GET', path: `/api/photos/${NO_PHOTO}`, status: 404 },
      { method: 'GET', path: '/api/nothing', status: 404 },
      {
        method: 'GET',
        path: '/api/account',
        status: 401,
        headers: { authorization: 'Bearer nobody' },
      },
    ];
  }

  async #ask(question: Question, coding: string): Promise<void> {
    const { method, path, status, body, headers } = question;
    const tally = this.#tallyOf(question);
    const options = { body, headers: { 'accept-encoding': coding, ...headers } };
    tally.asked += 1;
    try {
      const reply = await this.#client.send(method, path, options);
      if (reply.status === status && !isToolFault(reply)) tally.answered += 1;
      else if (!isPassing(reply)) this.#complain(question, JSON.stringify(reply));
      if (path.startsWith('/api/changes') && reply.status === 200) {
        this.#since = `&since=${String(record(reply.body)['nextCursor'])}`;
      }
      // Every tenth client disconnects during the response.
      if (tally.asked % 10 === 0) {
        await this.#client.send(method, path, { ...options, within: 1 }).catch(() => undefined);
      }
    } catch (error) {
      this.#complain(question, String(error));
    }
  }

  #tallyOf({ method, path }: Question): Tally {
    const name = `${method} ${path.replace(/\?.*/, '')}`;
    const tally = this.tallies.get(name) ?? { asked: 0, answered: 0 };
    this.tallies.set(name, tally);
    return tally;
  }

  #complain({ method, path }: Question, what: string): void {
    this.#scene.faults.push(`${method} ${path}: ${what}`);
  }
}

/** The kind of request with the smallest share of expected responses, and that share. */
export function leastAnswered(readers: readonly Reader[]): { name: string; share: number } {
  const all = readers.flatMap(({ tallies }) => [...tallies]);
  const shares = all.map(([name, { asked, answered }]) => ({ name, share: answered / asked }));
  return shares.toSorted((a, b) => a.share - b.share)[0] ?? { name: 'nothing', share: 0 };
}

/** Whether a tool call failed; its status is 200 as well. */
function isToolFault({ body }: Reply): boolean {
  return JSON.stringify(body).includes('"isError":true');
}

/** Whether it is a 503 with Retry-After. */
function isPassing(reply: Reply): boolean {
  if (isToolFault(reply)) return JSON.stringify(reply.body).includes('service_unavailable');
  return reply.status === 503 && reply.headers['retry-after'] !== undefined;
}
