import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** Where an attack goes, and by whom. */
export interface Target {
  url: string;
  /** The certificate to trust, under HTTPS. */
  ca: string | undefined;
  token: string;
  /** A plant with many of the largest events, and the photos of each. */
  plantId: string;
  photoIds: readonly string[];
  /** Learns how requests were answered that are sent one after the other. */
  onStatus?: (status: string) => void;
}

/** One attack on one connection, until it has nothing more to do; connection errors end it. */
export type Attack = (target: Target) => Promise<void>;

export interface Message {
  method?: string;
  path: string;
  body?: string;
  /** Beside those that it needs; without a value one of these is left out. */
  headers?: Record<string, string | undefined>;
}

/** How long a connection is held whose answers nobody takes. */
const HELD_MS = 5000;

const STATUS = /HTTP\/1\.1 (\d{3})/g;
const STATUS_LENGTH = 'HTTP/1.1 200'.length;

/** Requests on a connection before it makes place for another attack. */
const REQUESTS = 50;

export function openTcp({ url }: Target): Socket {
  const socket = connectTcp(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  return socket;
}

/** A connection, over TLS where the server has a certificate. */
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

/** Until a connection is over, but no longer than that. */
export async function until(socket: Socket, ms: number): Promise<void> {
  const over = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([over, sleep(ms)]);
  socket.destroy();
}

/** Sends messages one after the other as fast as they are answered. */
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
      // Each answer has one status line; the next request goes as soon as the first bytes are there.
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

/** Sends many messages ahead, and takes so much of the answers in so much time. */
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
