import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { listening } from './listening';

const JSON_BODY = { 'Content-Type': 'application/json' };
const PORTAL = { 'Content-Type': 'text/html' };
const PORTAL_PAGE = '<h1>Welcome to our hotel</h1>';

type Forward = () => Promise<Response>;

/** What becomes of a request. */
const FATES = {
  'request lost': (response: ServerResponse) => response.destroy(),
  'response lost': async (response: ServerResponse, forward: Forward) => {
    await forward();
    response.destroy();
  },
  'half a response': async (response: ServerResponse, forward: Forward) => {
    const body = await (await forward()).text();
    response.writeHead(200, { ...JSON_BODY, 'Content-Length': body.length });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  },
  'too many requests': (response: ServerResponse) => refuse(response, 429, 'rate_limited'),
  'service unavailable': (response: ServerResponse) => refuse(response, 503, 'service_unavailable'),
  'still running': (response: ServerResponse) => refuse(response, 409, 'idempotency_conflict'),
  'page of a portal': (response: ServerResponse) =>
    response.writeHead(200, PORTAL).end(PORTAL_PAGE),
  'redirect of a portal': (response: ServerResponse) =>
    response.writeHead(302, { ...PORTAL, Location: '/portal' }).end(PORTAL_PAGE),
  'refusal of a portal': (response: ServerResponse) =>
    response.writeHead(403, PORTAL).end(PORTAL_PAGE),
} as const;

export type Fate = keyof typeof FATES;
export const ALL_FATES = Object.keys(FATES) as Fate[]; // Its own keys.

function refuse(response: ServerResponse, status: number, code: string): ServerResponse {
  response.writeHead(status, { ...JSON_BODY, 'Retry-After': '1' });
  return response.end(JSON.stringify({ error: 'Later.', code }));
}

/** Lets the first attempt of each request meet a fate, and each repeat get through. */
export function atFirstAttempts(fate: Fate): (request: IncomingMessage) => Fate | undefined {
  const met = new Set<string>();
  return ({ method, url, headers }) => {
    const tag = headers['idempotency-key'] ?? headers['if-match'];
    const attempt = [method, url, tag].join(' ');
    if (met.has(attempt)) return undefined;
    met.add(attempt);
    return fate;
  };
}

/** A proxy in front of a service, as the network of a phone may be. */
export class HostileNetwork {
  /** Called for each request before it is forwarded; returns its fate, if it is not to get through. */
  onRequest: (request: IncomingMessage) => Fate | undefined = () => undefined;
  /** The method and path of each request. */
  readonly seen: string[] = [];
  readonly #server: Server;

  private constructor(
    readonly url: string,
    server: Server,
  ) {
    this.#server = server;
  }

  static async before(service: string): Promise<HostileNetwork> {
    const server = createServer((request, response) => {
      void network.#pass(service, request, response);
    });
    const network = new HostileNetwork(`http://127.0.0.1:${await listening(server)}`, server);
    return network;
  }

  async #pass(service: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = await buffer(request);
    this.seen.push(`${method} ${url}`);
    const fate = this.onRequest(request);
    const forward: Forward = () => {
      const { host: _, connection: _kept, 'content-length': _length, ...headers } = request.headers;
      const init = { method, headers: headers as Record<string, string>, redirect: 'manual' };
      return fetch(service + url, { ...init, ...(body.length > 0 && { body }) } as RequestInit);
    };
    if (fate !== undefined) {
      await FATES[fate](response, forward);
      return;
    }
    const answer = await forward();
    const {
      'content-encoding': _,
      'content-length': _length,
      ...headers
    } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}
