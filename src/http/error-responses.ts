import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { type ApiError, validationError } from '../core/errors';

/** How long a connection stays open after its last response, so that the client can read it. */
const LINGER_MS = 1000;

/** Returns the error for a request that Node's parser rejects; undefined if no response can be sent. */
export function parserError({ code }: NodeJS.ErrnoException): ApiError | undefined {
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
export function respondAndClose(socket: Duplex, error: ApiError): void {
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
