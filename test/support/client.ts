import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

import { decoded } from './content-coding';

/** Less than the server's: before Node 24 both ends may close an idle connection at the same moment. */
export const IDLE_MS = 30_000;

/** A response with any status. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body. */
  body: unknown;
}

interface SendOptions {
  body?: object | undefined;
  headers?: Record<string, string>;
  /** Time-out in milliseconds; none by default. */
  within?: number;
}

/** A client that keeps connections open, as phones do, and throws for no status. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** @throws Error only if there is no response */
  async send(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    const { body, headers = {}, within } = options;
    const payload = body && JSON.stringify(body);
    const sent = request(`${this.#url}${path}`, {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(payload === undefined
          ? {}
          : {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(payload),
            }),
        ...headers,
      },
      ...(within === undefined ? {} : { signal: AbortSignal.timeout(within) }),
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('error', reject).once('response', resolve).end(payload);
    });
    const chunks: Buffer[] = [];
    // Without an encoding, chunks are buffers.
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = decoded(Buffer.concat(chunks), response.headers['content-encoding']).toString();
    return {
      // Every response has a status; the type is that of requests too.
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: JSON.parse(text) as unknown,
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A parsed body as a record. @throws Error if it is not an object */
export function record(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new Error(`This is not an object: ${JSON.stringify(value)}`);
}

/** A parsed body as a list of records. @throws Error if it is not one */
export function records(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.map(record);
  throw new Error(`This is not a list: ${JSON.stringify(value)}`);
}
