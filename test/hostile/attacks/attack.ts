import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** The target of an attack, and the account that attacks. */
export interface Target {
  url: string;
  /** The certificate to trust, under HTTPS. */
  ca: string | undefined;
  token: string;
  /** A plant with many events of maximum size, and the photos of each. */
  plantId: string;
  photoIds: readonly string[];
  /** Receives the statuses of requests that are sent one after another. */
  onStatus?: (status: string) => void;
}

/** One attack on one connection; connection errors end it. */
export type Attack = (target: Target) => Promise<void>;

export interface Message {
  method?: string;
  path: string;
  body?: string;
  /** Additional headers; an undefined one is left out. */
  headers?: Record<string, string | undefined>;
}

/** How long a connection is held without reading its responses. */
const HELD_MS = 5000;

const STATUS = /HTTP\/1\.1 (\d{3})/g;
const STATUS_LENGTH = 'HTTP/1.1 200'.length;

/** Requests on a connection before another attack. */
const REQUESTS = 50;

export function openTcp({ url }: Target): Socket {
  const socket = connectTcp(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  return socket;
}

/** A connection, over TLS if the server has a certificate. */
export function open(target: Target): Socket {
  const { url, ca } = target;
  if (ca === undefined) return openTcp(target);
  const port = Number(new URL(url).port);
  const socket = connectTls({ port, host: 'localhost', ca });
  socket.on('error', () => socket.destroy());
  return socket;
}

export function bytesOf(
  { token }: Target,
  { method = 'GET', path, body = '', headers = {} }: Message,
) {
  const all: NonNullable<Message['headers']> = {
    host: 'localhost',
    authorization: `Bearer ${token}`,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    ...(method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Waits until a connection is closed, up to a limit. */
export async function until(socket: Socket, ms: number): Promise<void> {
  const over = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([over, sleep(ms)]);
  socket.destroy();
}

/** Sends messages one after another, each after the response to the previous one. */
export function inTurn(messages: (index: number, target: Target) => Message): Attack {
  return async (target) => {
    const socket = open(target);
    let sent = 0;
    let unseen = '';
    const sendNext = (): void => {
      if (sent === REQUESTS) socket.destroy();
      else socket.write(bytesOf(target, messages(sent, target)));
      sent += 1;
    };
    sendNext();
    socket.on('data', (chunk: Buffer) => {
      // Each response has one status line; the next request is sent as soon as the first bytes arrive.
      const seen = unseen + chunk.toString('latin1');
      unseen = seen.slice(1 - STATUS_LENGTH);
      for (const [, status = ''] of seen.matchAll(STATUS)) {
        target.onStatus?.(status);
        sendNext();
      }
    });
    await until(socket, HELD_MS);
  };
}

/** Pipelines many messages, and reads the responses at a limited rate. */
export function ahead(
  count: number,
  message: (target: Target) => Message,
  slowly?: { everyMs: number },
): Attack {
  return async (target) => {
    const socket = open(target);
    socket.pause();
    socket.write(bytesOf(target, message(target)).repeat(count));
    const timer = slowly && setInterval(() => socket.read(16_384) as unknown, slowly.everyMs);
    await until(socket, HELD_MS);
    clearInterval(timer);
  };
}
