import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

import { Webhook } from 'standardwebhooks';

import { record } from '../../../test/support/client';
import { until } from '../../../test/support/processes';
import { listening } from '../../../test/support/listening';
import type { TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';

/** A message as a receiver got it. */
export interface Received {
  id: string;
  path: string;
  at: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
  text: string;
}

/** What a receiver answers: a status, or nothing at all. */
type Answer = number | { status: number; headers: Record<string, string> } | 'never' | 'reset';

/** A backend's server that webhooks are sent to. */
export class Receiver {
  readonly received: Received[] = [];
  /** How many requests are open now, and the most there were for an account at once. */
  open = new Map<string, number>();
  mostAtOnce = 0;
  answer: (message: Received) => Answer | Promise<Answer> = () => 204;
  readonly #server: Server;

  private constructor(
    server: Server,
    readonly url: string,
  ) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer((request, response) => {
      void (async () => {
        const body = await text(request);
        const message: Received = {
          id: String(request.headers['webhook-id']),
          path: request.url ?? '',
          at: performance.now(),
          body: record(JSON.parse(body)),
          headers: request.headers as Record<string, string>,
          text: body,
        };
        const user = String(record(message.body['data'])['userId']);
        const atOnce = (receiver.open.get(user) ?? 0) + 1;
        receiver.open.set(user, atOnce);
        receiver.mostAtOnce = Math.max(receiver.mostAtOnce, atOnce);
        response.on('close', () => receiver.open.set(user, (receiver.open.get(user) ?? 1) - 1));
        receiver.received.push(message);
        const answer = await receiver.answer(message);
        if (answer === 'reset') request.destroy();
        else if (typeof answer === 'number') response.writeHead(answer).end();
        else if (answer !== 'never') response.writeHead(answer.status, answer.headers).end();
      })();
    });
    const receiver = new Receiver(server, `http://127.0.0.1:${await listening(server)}`);
    return receiver;
  }

  /** What came for a path, or about an account. */
  of(user: string): Received[] {
    return this.received.filter(({ body }) => record(body['data'])['userId'] === user);
  }

  typesOf(user: string): unknown[] {
    return this.of(user).map(({ body }) => body['type']);
  }

  async until(user: string, count: number): Promise<Received[]> {
    await until(() => this.of(user).length >= count);
    return this.of(user);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** @throws Error where a message is not signed with the secret */
export function verify(secret: string, { text: body, headers }: Received): void {
  new Webhook(secret).verify(body, headers);
}

/** Makes a webhook of a backend. */
export async function webhookOf(
  backend: TestUser,
  url: string,
  ...events: string[]
): Promise<{ id: string; path: string; secret: string }> {
  const made = bodyOf(await backend.post('/api/webhooks', { url, events }).expect(201));
  const id = String(made['id']);
  return { id, path: `/api/webhooks/${id}`, secret: String(made['secret']) };
}
