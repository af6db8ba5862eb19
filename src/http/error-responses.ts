import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { type ApiError, validationError } from '../core/errors';

/** How long a connection stays open after its last answer, so that the client can read it. */
const LINGER_MS = 1000;

/** The error for what Node's parser refuses; undefined where no HTTP answer can be read. */
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

/** Answers on a connection that Node made no request of, and closes it. */
export function answerAndClose(socket: Duplex, error: ApiError): void {
  // Nobody else listens to the connection of a CONNECT, and a reset would end the process.
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
  // What the client still sends is read, or a reset could overtake the answer.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
