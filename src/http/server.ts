import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { methodNotAllowed, validationError } from '../core/errors';
import { hostSettings, readSettingsFile } from '../core/host-settings';
import { type Settings, SettingsError } from '../core/settings';
import { Connections } from './connections';
import { parserError, sendError, writeError } from './error-responses';
import { defaultLimits, type HttpLimits } from './limits';
import { METHODS } from './methods';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const connectionsOf = new WeakMap<Server, Connections>();

/** A server for `handler`: HTTPS (HTTP/2 and 1.1) when a certificate is set, else HTTP. */
export function createHttpServer(
  handler: Handler,
  settings: Settings,
  changes: Partial<HttpLimits> = {},
): Server {
  const limits = { ...defaultLimits(), ...changes };
  const tls = tlsOptions(settings);
  const server = tls
    ? createSecureServer({
        ...tls,
        allowHTTP1: true,
        handshakeTimeout: limits.handshakeTimeout,
        settings: { maxConcurrentStreams: limits.maxRequestsPerConnection },
      })
    : createServer({ requireHostHeader: false });
  // Afterwards, since a server of HTTP/2 takes them for HTTP/1.1 by no other way.
  Object.assign(server, {
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.checkInterval,
  });
  const connections = new Connections(server, tls !== undefined, limits);
  connectionsOf.set(server, connections);
  const accept = (answer: Handler) => (request: IncomingMessage, response: ServerResponse) => {
    connections.accept(request, response, () => answer(request, response));
  };
  server.on('request', accept(handler));
  server.on(
    'checkExpectation',
    accept((request, response) => {
      const message = 'The header Expect cannot be met.';
      sendError(request, response, validationError.error(message, { status: 417 }));
    }),
  );
  server.on('connect', (request: IncomingMessage, target: Duplex | ServerResponse) => {
    const error = methodNotAllowed.error('This server is not a proxy.', {
      headers: { Allow: METHODS.join(', ') },
    });
    // HTTP/2 gives a response as for any other request, HTTP/1.1 the bare connection.
    if (!('setHeader' in target)) writeError(target, error, limits.lingerTimeout);
    else
      connections.accept(request, target, () => {
        sendError(request, target, error);
      });
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    const answer = parserError(error, socket);
    if (answer) writeError(socket, answer, limits.lingerTimeout);
    else socket.destroy();
  });
  return server;
}

/**
 * Takes no more requests, and waits for those in progress, but not longer than `patienceMs`; answers
 * how many are not done by then.
 */
export async function closeHttpServer(server: Server, patienceMs: number): Promise<number> {
  const closed = new Promise((resolve) => server.close(resolve));
  connectionsOf.get(server)?.closeSessions();
  await Promise.race([closed, sleep(patienceMs, undefined, { ref: false })]);
  return connectionsOf.get(server)?.requestsInProgress ?? 0;
}

function tlsOptions(settings: Settings) {
  const certFile = settings.of(hostSettings.tlsCertFile);
  const keyFile = settings.of(hostSettings.tlsKeyFile);
  if (certFile === undefined || keyFile === undefined) return undefined;
  const cert = readSettingsFile(hostSettings.tlsCertFile, certFile);
  const key = readSettingsFile(hostSettings.tlsKeyFile, keyFile);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new SettingsError('TLS_KEY_FILE is not the private key of TLS_CERT_FILE.');
  }
  return {
    cert,
    key,
    minVersion: 'TLSv1.2' as const,
    // All of TLS 1.3; of 1.2 only what encrypts with authentication and keeps no past secret open.
    ciphers: [
      'TLS_AES_256_GCM_SHA384',
      'TLS_CHACHA20_POLY1305_SHA256',
      'TLS_AES_128_GCM_SHA256',
      'ECDHE+AESGCM',
      'ECDHE+CHACHA20',
    ].join(':'),
  };
}
