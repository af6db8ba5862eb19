import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import { type ApiError, methodNotAllowed, validationError } from '../core/errors';
import type { Settings } from '../core/settings/settings';
import { withTimeout } from '../core/async/timeout';
import { answerAndClose, parserError } from './error-responses';
import { defaultLimits, type HttpLimits } from './limits';
import { METHODS } from './methods';
import type { RefusalStatus } from './refused';
import { tlsOptions } from './tls';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** How long an open connection may take to send a last request once the server closes. */
const LAST_REQUEST_MS = 1000;

/** After so many turns of the event loop without a new connection, none waits to be accepted. */
const QUIET_TURNS = 20;

/** How many requests a client may send ahead of their answers on one connection. */
const MAX_AHEAD = 100;

/** How often a server that closes looks whether all requests are answered. */
const LOOK_MS = 10;

/** A request whose answer is not sent yet. */
interface Pending {
  response: ServerResponse;
  start: () => unknown;
}

/** What is pending on the connections of each server, in the order of the requests. */
const pendingOf = new WeakMap<Server, Map<Duplex, Pending[]>>();

interface ServerOptions extends Partial<HttpLimits> {
  /** Called for each request or connection that never reaches the handler. */
  onRefusal?: (status: RefusalStatus) => void;
}

/** An HTTP/1.1 server for `handler`, over TLS where a certificate is set. */
export function createHttpServer(
  handler: Handler,
  settings: Settings,
  { onRefusal = () => undefined, ...changes }: ServerOptions = {},
): Server {
  const { handshakeTimeout, ...limits } = { ...defaultLimits(), ...changes };
  const tls = tlsOptions(settings);
  const server = tls ? createSecureServer({ ...tls, handshakeTimeout }) : createServer();
  // The application refuses a request without Host itself, by the Error body.
  Object.assign(server, { requireHostHeader: false, ...limits });
  const pending = new Map<Duplex, Pending[]>();
  pendingOf.set(server, pending);
  const refuse = (socket: Duplex, error: ApiError | undefined): void => {
    // It was refused before, and the client sends more.
    if (socket.writableEnded) return;
    const current = pending.get(socket)?.[0]?.response;
    if (!error || !socket.writable || current?.headersSent) {
      socket.destroy();
      return;
    }
    onRefusal(error.status);
    answerAndClose(socket, error);
  };
  server.on('request', (request, response) => {
    const queue = queueOf(pending, request.socket);
    queue.push({ response, start: () => handler(request, response) });
    response.once('close', () => {
      queue.shift();
      if (!request.socket.destroyed) queue[0]?.start();
    });
    // One at a time: 30 clients that send 1,000 ahead would keep all others waiting for 8 s.
    if (queue.length === 1) queue[0]?.start();
    else if (queue.length > MAX_AHEAD) request.socket.destroy();
  });
  server.on('clientError', (reason, socket) => {
    refuse(socket, parserError(reason));
  });
  server.on('checkExpectation', ({ socket }) => {
    const message = 'The header Expect cannot be met.';
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
 * Takes no more connections and soon no more requests, and waits for those in progress, but not
 * longer than `patienceMs`; returns how many are not done by then.
 */
export async function closeHttpServer(server: Server, patienceMs: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  const inProgress = () => [...(pendingOf.get(server)?.values() ?? [])].flat().length;
  await withTimeout(LAST_REQUEST_MS, acceptWaiting(server));
  const closed = new Promise((resolve) => server.once('close', resolve));
  // Node's own close would end kept connections on which a request may be on its way.
  TcpServer.prototype.close.call(server);
  await withTimeout(LAST_REQUEST_MS, closed);
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

/** Waits until every connection that was made is accepted: those that are not would be reset. */
async function acceptWaiting(server: Server): Promise<void> {
  let quiet = 0;
  server.on('connection', () => {
    quiet = 0;
  });
  // One is accepted in a turn of the event loop, though not in each where the machine is busy.
  for (; quiet < QUIET_TURNS; quiet += 1) await setImmediate();
}
