import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { bytesOf, open, openTcp, type Target } from './attacks/attack';
import { HALF_A_HEAD } from './attacks/connections';

/** The number of connections for each way of holding them. */
const OF_EACH = 4;
/** The longest time-out of an idle connection (docs/running.md, "Bounds"), and a margin. */
const MOST_MS = 60_000 + 10_000;
/** The first write to a closed connection is refused by the peer; only later writes fail. */
const NOTICE_MS = 500;

interface Way {
  connect: (target: Target) => Socket;
  first: string | Buffer;
  again?: string;
  isUnread?: true;
  /** Whether its client keeps its side open when the server closes its own. */
  isHalfOpen?: true;
}

const connectHalfOpen = ({ url }: Target): Socket =>
  connectTcp({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });

const documents = (target: Target) =>
  bytesOf(target, {
    path: '/docs/swagger-ui-bundle.js',
    headers: { authorization: undefined },
  }).repeat(50);

function waysOf(target: Target): Record<string, Way> {
  const common: Record<string, Way> = {
    'says nothing': { connect: openTcp, first: '' },
    'sends half of a head': { connect: open, first: HALF_A_HEAD },
    'sends half of a body': {
      connect: open,
      first: 'POST /api/plants HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    },
    'sends empty lines': { connect: open, first: '', again: '\r\n' },
    'takes no answers': { connect: open, first: documents(target), isUnread: true },
  };
  const overTls: Record<string, Way> = {
    'sends half of a handshake': { connect: openTcp, first: '\u0016\u0003\u0001' },
  };
  const overTcp: Record<string, Way> = {
    'stays after 408': { connect: connectHalfOpen, first: HALF_A_HEAD, isHalfOpen: true },
    'stays after CONNECT': {
      connect: connectHalfOpen,
      first: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      isHalfOpen: true,
    },
  };
  return { ...common, ...(target.ca === undefined ? overTcp : overTls) };
}

interface Held {
  way: string;
  socket: Socket;
  isHalfOpen: boolean;
  stop: () => void;
}

/** Connections of clients that never use or close them, so the server has to. */
export class HeldConnections {
  readonly #all: Held[];
  readonly #end = performance.now() + MOST_MS;

  constructor(target: Target) {
    this.#all = Object.entries(waysOf(target)).flatMap(([way, { connect, first, ...how }]) =>
      Array.from({ length: OF_EACH }, () => {
        const socket = connect(target);
        socket.on('error', () => socket.destroy());
        socket.write(first);
        if (how.isUnread) socket.pause();
        else socket.resume();
        const { again = '', isHalfOpen = false } = how;
        const timer = setInterval(() => socket.writable && socket.write(again), 3000);
        const stop = (): void => {
          clearInterval(timer);
        };
        return { way, socket, isHalfOpen, stop };
      }),
    );
  }

  /** Waits for their time-out. */
  async wait(): Promise<void> {
    await sleep(this.#end - performance.now());
    for (const { stop } of this.#all) stop();
  }

  /** Closes them; returns the kinds of those that the server had not closed. */
  async notClosed(): Promise<string[]> {
    // Otherwise a client that does not read, or is half open, would not notice that it is closed.
    for (const { socket } of this.#all) socket.resume();
    const halfOpen = this.#all.filter(({ isHalfOpen }) => isHalfOpen);
    for (let count = 0; count < 3; count += 1) {
      for (const { socket } of halfOpen) if (socket.writable) socket.write('x');
      await sleep(NOTICE_MS);
    }
    const left = this.#all.filter(({ socket }) => !socket.closed);
    for (const { socket } of this.#all) socket.destroy();
    return left.map(({ way }) => way);
  }
}
