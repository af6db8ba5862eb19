import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';

import { Webhook } from 'standardwebhooks';

import type { Certificate } from '../../../test/support/certificate';
import { record, records } from '../../../test/support/client';
import { listening } from '../../../test/support/listening';
import { until } from '../../../test/support/processes';
import type { TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';

/** A message as the receiver got it. */
interface Received {
  id: string;
  path: string;
  at: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
  text: string;
}

/** The response of a receiver: a status, nothing at all, or a body that never ends. */
type Answer =
  | number
  | { status: number; headers: Record<string, string> }
  | ('never' | 'reset' | 'dripping' | 'flooding');

const DRIP_MS = 500;
const FLOOD = 'x'.repeat(64 * 1024);

/** The server of a backend, to which webhooks deliver. */
export class Receiver {
  readonly received: Received[] = [];
  /** The most requests about one account that were open at once. */
  mostAtOnce = 0;
  /** How many bytes of bodies were sent. */
  sentBytes = 0;
  answer: (message: Received) => Answer | Promise<Answer> = () => 204;
  readonly #open = new Map<string, number>();
  readonly #server: Server;

  private constructor(certificate?: Certificate) {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#receive(request, response);
    };
    this.#server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  }

  url = '';

  /** @param certificate with it, the receiver speaks TLS */
  static async start(certificate?: Certificate): Promise<Receiver> {
    const receiver = new Receiver(certificate);
    const port = await listening(receiver.#server);
    receiver.url = `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`;
    return receiver;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
    const open = (by: number): number => {
      const now = (this.#open.get(user) ?? 0) + by;
      this.#open.set(user, now);
      return now;
    };
    this.mostAtOnce = Math.max(this.mostAtOnce, open(1));
    response.on('close', () => open(-1));
    this.received.push(message);
    const answer = await this.answer(message);
    if (answer === 'reset') request.socket.destroy();
    else if (answer === 'dripping') this.#drip(response);
    else if (answer === 'flooding') this.#flood(response);
    else if (typeof answer === 'number') response.writeHead(answer).end();
    else if (answer !== 'never') response.writeHead(answer.status, answer.headers).end();
  }

  #drip(response: ServerResponse): void {
    response.writeHead(200).flushHeaders();
    const timer = setInterval(() => response.write('x'), DRIP_MS);
    response.on('close', () => {
      clearInterval(timer);
    });
  }

  #flood(response: ServerResponse): void {
    const write = (): void => {
      do this.sentBytes += FLOOD.length;
      while (response.write(FLOOD));
    };
    response.writeHead(200).on('drain', write);
    write();
  }

  /** The messages about an account. */
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

/** @throws Error when a message is not signed with the secret */
export function verify(secret: string, { text: body, headers }: Received): void {
  new Webhook(secret).verify(body, headers);
}

/** The deliveries of a webhook, newest first. */
export async function deliveriesOf(
  backend: TestUser,
  path: string,
): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await backend.get(`${path}/deliveries?limit=100`).expect(200))['items']);
}

/** Creates a webhook of a backend. */
export async function webhookOf(
  backend: TestUser,
  url: string,
  ...events: string[]
): Promise<{ id: string; path: string; secret: string }> {
  const made = bodyOf(await backend.post('/api/webhooks', { url, events }).expect(201));
  const id = String(made['id']);
  return { id, path: `/api/webhooks/${id}`, secret: String(made['secret']) };
}
