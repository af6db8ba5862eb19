import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { type ApiError, methodNotAllowed, validationError } from '../core/errors';
import type { Settings } from '../core/settings/settings';
import { defaultLimits, type HttpLimits } from './limits';
import { tlsOptions } from './tls';
import type { Metrics } from '../core/metrics';

/** The HTTP methods that the API uses. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** How often dropped connections are logged. */
const REPORT_MS = 60_000;

/** The status of the response; `none` if a connection above the limit was closed without one. */
export type RefusalStatus = number | 'none';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** How many requests a client may pipeline on one connection. */
const MAX_AHEAD = 100;

/** How long a connection stays open after its last response, so that the client can read it. */
const LINGER_MS = 1000;

/** How often a closing server checks whether all responses have been sent. */
const LOOK_MS = 10;

/** A request whose response has not been sent yet. */
interface Pending {
  response: ServerResponse;
  start: () => unknown;
}

/** The pending requests of each server, by connection, in the order of their arrival. */
const pendingOf = new WeakMap<Server, Map<Duplex, Pending[]>>();

interface ServerOptions extends Partial<HttpLimits> {
  /** Called for each request or connection that is refused before it reaches the handler. */
  onRefusal?: (status: RefusalStatus) => void;
}

/** Returns an HTTP/1.1 server for `handler`, over TLS if a certificate is set. */
export function createHttpServer(
  handler: Handler,
  settings: Settings,
  { onRefusal = () => undefined, ...changes }: ServerOptions = {},
): Server {
  const { handshakeTimeout, ...limits } = { ...defaultLimits(), ...changes };
  const tls = tlsOptions(settings);
  const server = tls ? createSecureServer({ ...tls, handshakeTimeout }) : createServer();
  // The application itself rejects requests without Host, to send the Error body.
  Object.assign(server, { requireHostHeader: false, ...limits });
  const pending = new Map<Duplex, Pending[]>();
  pendingOf.set(server, pending);
  const refuse = (socket: Duplex, error: ApiError | undefined): void => {
    // Already refused; the client keeps sending.
    if (socket.writableEnded) return;
    const current = pending.get(socket)?.[0]?.response;
    if (!error || !socket.writable || current?.headersSent) {
      socket.destroy();
      return;
    }
    onRefusal(error.status);
    respondAndClose(socket, error);
  };
  server.on('request', (request, response) => {
    const queue = queueOf(pending, request.socket);
    queue.push({ response, start: () => handler(request, response) });
    response.once('close', () => {
      queue.shift();
      if (!request.socket.destroyed) queue[0]?.start();
    });
    // One at a time: 30 clients that pipeline 1,000 requests each would delay all others by 8 s.
    if (queue.length === 1) queue[0]?.start();
    else if (queue.length > MAX_AHEAD) request.socket.destroy();
  });
  server.on('clientError', (reason, socket) => {
    refuse(socket, parserError(reason));
  });
  server.on('checkExpectation', ({ socket }) => {
    const message = 'The expectation in the Expect header cannot be met.';
    refuse(socket, validationError.error(message, { status: 417 }));
  });
  server.on('connect', (_request, socket) => {
    const headers = { Allow: METHODS.join(', ') };
    refuse(socket, methodNotAllowed.error('This server is not a proxy.', { headers }));
  });
  server.on('drop', () => {
    onRefusal('none');
  });
  return server;
}

/**
 * Stops accepting connections and requests, and waits up to `patienceMs` for those in progress. Returns
 * how many were cut off.
 */
export async function closeHttpServer(server: Server, patienceMs: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  const inProgress = () => [...(pendingOf.get(server)?.values() ?? [])].flat().length;
  server.close();
  while (inProgress() > 0 && performance.now() < deadline) await sleep(LOOK_MS);
  const cut = inProgress();
  server.closeAllConnections();
  return cut;
}

function queueOf(pending: Map<Duplex, Pending[]>, socket: Duplex): Pending[] {
  const known = pending.get(socket);
  if (known) return known;
  const queue: Pending[] = [];
  pending.set(socket, queue);
  socket.once('close', () => pending.delete(socket));
  return queue;
}

/** Returns the error for a request that Node's parser rejects; undefined if no response can be sent. */
function parserError({ code }: NodeJS.ErrnoException): ApiError | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return validationError.error('The headers of the request are too large.', { status: 431 });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return validationError.error('The request took too long to arrive.', { status: 408 });
  }
  if (code?.startsWith('HPE_')) return validationError.error('The request is not valid HTTP.');
  return undefined;
}

/** Writes an error to a connection for which Node created no request, and closes it. */
function respondAndClose(socket: Duplex, error: ApiError): void {
  // The connection of a CONNECT has no other listener, and an unhandled reset would end the process.
  socket.on('error', () => undefined);
  const body = JSON.stringify(error.body);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': crypto.randomUUID(),
    Connection: 'close',
    ...error.headers,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${head.join('')}\r\n${body}`,
  );
  // Read what the client still sends: unread data would make the kernel reset the connection.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Returns a function that counts requests and connections that never reach the application. Once a
 * minute, it logs how many connections were closed because the limit was reached.
 */
export function countRefusals(metrics: Metrics, log: Logger): (status: RefusalStatus) => void {
  const refusals = metrics.counter(
    'http_refusals_total',
    'Requests that are not valid HTTP, by response status; none: connections closed because the limit was reached',
    ['status'],
  );
  refusals.inc({ status: 'none' }, 0);
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    if (dropped === 0) return;
    log.warn(
      { refused: dropped },
      'New connections are closed because the connection limit is reached (docs/operations.md)',
    );
    dropped = 0;
    timer = setTimeout(report, REPORT_MS).unref();
  };
  return (status) => {
    refusals.inc({ status });
    if (status !== 'none') return;
    dropped += 1;
    if (!timer) report();
  };
}
