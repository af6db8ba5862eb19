import {
  createServer,
  Server as HttpServer,
  STATUS_CODES,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ErrorCode, methodNotAllowed, validationError } from '../core/errors';
import { hostSettings, readSettingsFile } from '../core/host-settings';
import type { Settings } from '../core/settings';

/** How long a request may take to arrive, in milliseconds, and how often that is looked at. */
const TIMEOUTS = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
};

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The open connections of HTTP/2 servers, which do not keep account of them themselves. */
const sessions = new WeakMap<Server, Set<ServerHttp2Session>>();

/** A server for `handler`: HTTPS (HTTP/2 and 1.1) when a certificate is set, else HTTP. */
export function createHttpServer(handler: Handler, settings: Settings): Server {
  const certFile = settings.of(hostSettings.tlsCertFile);
  const keyFile = settings.of(hostSettings.tlsKeyFile);
  const server =
    certFile !== undefined && keyFile !== undefined
      ? createSecureServer(
          {
            cert: readSettingsFile(hostSettings.tlsCertFile, certFile),
            key: readSettingsFile(hostSettings.tlsKeyFile, keyFile),
            allowHTTP1: true,
          },
          // Koa works with HTTP/2's compatible request and response as with those of HTTP/1.
          handler as unknown as Parameters<typeof createSecureServer>[1],
        )
      : createServer({ requireHostHeader: false }, handler);
  // Afterwards, since a server of HTTP/2 takes them for HTTP/1.1 by no other way.
  Object.assign(server, TIMEOUTS);
  const open = new Set<ServerHttp2Session>();
  sessions.set(server, open);
  server.on('session', (session: ServerHttp2Session) => {
    open.add(session);
    session.once('close', () => open.delete(session));
  });
  server.on('clientError', answerUnreadable);
  server.on('connect', (request: IncomingMessage, target: Duplex | ServerResponse) => {
    const message = 'This server is not a proxy.';
    // HTTP/2 gives a response as for any other request, HTTP/1.1 the bare connection.
    if ('setHeader' in target) answerError(request, target, 405, methodNotAllowed, message);
    else writeError(target, 405, methodNotAllowed, message);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    answerError(request, response, 417, validationError, 'The header Expect cannot be met.');
  });
  return server;
}

/** Takes no more requests, and waits for those in progress, but not longer than `patienceMs`. */
export async function closeHttpServer(server: Server, patienceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  if (server instanceof HttpServer) server.closeIdleConnections();
  // Sends GOAWAY to clients of HTTP/2.
  for (const session of sessions.get(server) ?? []) session.close();
  await Promise.race([closed, sleep(patienceMs, undefined, { ref: false })]);
}

/** What Node's own parser refuses gets the Error body too (docs/decisions.md, "Requests"). */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
  } else if (error.code === 'HPE_HEADER_OVERFLOW') {
    writeError(socket, 431, validationError, 'The headers of the request are too large.');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    writeError(socket, 408, validationError, 'The request took too long to arrive.');
  } else {
    writeError(socket, 400, validationError, 'The request is not valid HTTP.');
  }
}

function writeError(socket: Duplex, status: number, kind: ErrorCode, message: string): void {
  const { headers, body } = errorFacts(kind, message);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  kind: ErrorCode,
  message: string,
): void {
  const { headers, body } = errorFacts(kind, message);
  const closing = request.httpVersionMajor === 1 ? { Connection: 'close' } : {};
  response.writeHead(status, { ...headers, ...closing });
  response.end(body);
}

function errorFacts(kind: ErrorCode, message: string) {
  const body = JSON.stringify({ error: message, code: kind.code });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': crypto.randomUUID(),
  };
  return { headers, body };
}
