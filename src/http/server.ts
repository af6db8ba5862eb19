import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { Server as TcpServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import { methodNotAllowed, validationError } from '../core/errors';
import { REFUSAL_MS } from '../core/request-limits';
import type { Settings } from '../core/settings';
import { within } from '../core/timeout';
import { Connections } from './connections';
import { Refusals } from './error-responses';
import { defaultLimits, type HttpLimits } from './limits';
import { METHODS } from './methods';
import type { RefusalStatus } from './refused';
import { SpareConnections } from './spare-connections';
import { tlsOptions } from './tls';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** How long an open connection may take to send a last request once the server closes. */
const LAST_REQUEST_MS = 1000;

/** After how many turns of the event loop without a new connection none is waiting. */
const QUIET_TURNS = 20;

const connectionsOf = new WeakMap<Server, Connections>();

interface ServerOptions extends Partial<HttpLimits> {
  /** Receives how what is refused before the handler sees it was answered. */
  onRefusal?: (status: RefusalStatus) => void;
  /** Paths that are answered on connections above the limit too. */
  probes?: ReadonlySet<string>;
}

/** A server for `handler`: HTTPS (HTTP/2 and 1.1) when a certificate is set, else HTTP. */
export function createHttpServer(
  handler: Handler,
  settings: Settings,
  { onRefusal = () => undefined, probes = new Set(), ...changes }: ServerOptions = {},
): Server {
  const limits = { ...defaultLimits(), ...changes };
  const refusals = new Refusals(limits.lingerTimeout, onRefusal);
  const tls = tlsOptions(settings);
  const server = tls
    ? createSecureServer({
        ...tls,
        allowHTTP1: true,
        handshakeTimeout: limits.handshakeTimeout,
        settings: { maxConcurrentStreams: limits.maxRequestsPerConnection },
      })
    : createServer();
  // Afterwards, since a server of HTTP/2 takes them for HTTP/1.1 by no other way.
  Object.assign(server, {
    requireHostHeader: false,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.idleTimeout,
    connectionsCheckingInterval: limits.checkInterval,
  });
  const spare = new SpareConnections(probes, limits.lingerTimeout, refusals);
  const connections = new Connections(server, tls !== undefined, { limits, refusals, spare });
  connectionsOf.set(server, connections);
  const accept = (answer: Handler) => (request: IncomingMessage, response: ServerResponse) => {
    connections.accept(request, response, () => answer(request, response));
  };
  server.on('request', accept(handler));
  server.on(
    'checkExpectation',
    accept(async (request, response) => {
      await sleep(REFUSAL_MS);
      const message = 'The header Expect cannot be met.';
      refusals.send(request, response, validationError.error(message, { status: 417 }));
    }),
  );
  server.on('connect', (request: IncomingMessage, target: Duplex | ServerResponse) => {
    const error = methodNotAllowed.error('This server is not a proxy.', {
      headers: { Allow: METHODS.join(', ') },
    });
    // HTTP/2 gives a response as for any other request, HTTP/1.1 the bare connection.
    if (!('setHeader' in target)) refusals.writeLater(target, error);
    else
      connections.accept(request, target, async () => {
        await sleep(REFUSAL_MS);
        refusals.send(request, target, error);
      });
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    connections.refuse(socket, error);
  });
  return server;
}

/** Takes all requests as before, but asks clients of HTTP/2 to send no more on their connections. */
export function drainConnections(server: Server): void {
  connectionsOf.get(server)?.drain();
}

/**
 * Takes no more connections and soon no more requests, and waits for those in progress, but not
 * longer than `patienceMs`; answers how many are not done by then.
 */
export async function closeHttpServer(server: Server, patienceMs: number): Promise<number> {
  const deadline = performance.now() + patienceMs;
  const connections = connectionsOf.get(server);
  connections?.drain();
  await within(LAST_REQUEST_MS, acceptWaiting(server));
  const closed = new Promise((resolve) => server.once('close', resolve));
  // Not by its own method yet, which ends connections on which a request may be under way to us.
  TcpServer.prototype.close.call(server);
  await within(LAST_REQUEST_MS, closed);
  server.close();
  connections?.closeIdle();
  await within(Math.max(0, deadline - performance.now()), closed);
  return connections?.requestsInProgress ?? 0;
}

/** Waits until every connection that was made is accepted: those that are not would be reset. */
async function acceptWaiting(server: Server): Promise<void> {
  let quiet = 0;
  const onConnection = (): void => {
    quiet = 0;
  };
  server.on('connection', onConnection);
  // One is accepted in a turn of the event loop, though not in each where the machine is busy.
  for (; quiet < QUIET_TURNS; quiet += 1) await setImmediate();
  server.off('connection', onConnection);
}
