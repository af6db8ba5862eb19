import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { ApiError, validationError } from '../core/errors';
import { REFUSAL_MS } from '../core/request-limits';
import type { RefusalStatus } from './refused';

/**
 * The error for what Node's own parser refuses (docs/api.md, "Requests"); undefined where
 * nobody is left to read it.
 */
export function parserError(error: NodeJS.ErrnoException, socket: Duplex): ApiError | undefined {
  // Before the end of its handshake a TLS connection cannot carry an answer.
  const isHandshake = error.code?.startsWith('ERR_TLS_') === true;
  if (error.code === 'ECONNRESET' || isHandshake || !socket.writable) return undefined;
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return validationError.error('The headers of the request are too large.', { status: 431 });
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return requestTimeout();
  }
  return validationError.error('The request is not valid HTTP.');
}

export function requestTimeout(): ApiError {
  return validationError.error('The request took too long to arrive.', { status: 408 });
}

/** Answers what never reaches the application: connections and requests that are refused before. */
export class Refusals {
  readonly #lingerTimeout: number;
  readonly #onRefusal: (status: RefusalStatus) => void;

  /**
   * @param lingerTimeout how long a bare connection stays once it was answered, in ms: a client that
   *   never closes its own side, or reads nothing, does not keep it
   * @param onRefusal receives the status of each answer
   */
  constructor(lingerTimeout: number, onRefusal: (status: RefusalStatus) => void) {
    this.#lingerTimeout = lingerTimeout;
    this.#onRefusal = onRefusal;
  }

  /** Answers on a bare connection that was not answered before, and closes it. */
  write(socket: Duplex, error: ApiError): void {
    if (!socket.writable) return;
    // Where it is one of CONNECT, nobody else listens, and a reset would end the process.
    socket.on('error', () => undefined);
    this.#onRefusal(error.status);
    const { headers, body } = serialize(error);
    const head = [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // What the client still sends is read, or the answer would be lost in a reset.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), this.#lingerTimeout);
    socket.once('close', () => {
      clearTimeout(timer);
    });
  }

  /** The same after a moment, and also where its client has closed its own side by then. */
  writeLater(socket: Duplex, error: ApiError): void {
    // Node would end it as soon as its client has sent all.
    socket.allowHalfOpen = true;
    socket.removeAllListeners('end');
    setTimeout(() => {
      this.write(socket, error);
    }, REFUSAL_MS).unref();
  }

  /** Closes a connection that cannot carry an answer yet. */
  close(socket: Duplex): void {
    this.dropped();
    socket.destroy();
  }

  /** Counts a connection that was closed without an answer. */
  dropped(): void {
    this.#onRefusal('none');
  }

  /** Answers a request, and over HTTP/1.1 closes its connection. */
  send(
    request: Pick<IncomingMessage, 'httpVersionMajor'>,
    response: ServerResponse,
    error: ApiError,
  ): void {
    this.#onRefusal(error.status);
    const { headers, body } = serialize(error);
    const closing = request.httpVersionMajor === 1 ? { Connection: 'close' } : {};
    response.writeHead(error.status, { ...headers, ...closing });
    response.end(body);
  }
}

function serialize(error: ApiError) {
  const body = JSON.stringify(error.body);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': crypto.randomUUID(),
    ...error.headers,
  };
  return { headers, body };
}
