import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type ServerHttp2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';

import { serviceUnavailable } from '../core/errors';
import { Turns } from '../core/turns';
import { Exchange } from './exchange';
import { parserError, type Refusals, requestTimeout } from './error-responses';
import { type HttpLimits, REFUSED_SHARE } from './limits';
import type { SpareConnections } from './spare-connections';

interface Connection {
  readonly socket: Socket;
  session: ServerHttp2Session | undefined;
  readonly exchanges: Set<Exchange>;
  /** HTTP/1.1: requests that were sent ahead and are answered after those before them. */
  readonly pipelined: Exchange[];
  /** Whether its client sent too many ahead: what else it sends is not read. */
  isRefused: boolean;
  /** Whether a request has come on it. */
  hasServed: boolean;
  /** Whether its client was asked to send no more requests on it. */
  isDraining: boolean;
  /** What is done once its requests are answered. */
  afterwards?: () => void;
  idleSince: number;
}

interface Dependencies {
  limits: HttpLimits;
  refusals: Refusals;
  /** Takes the connections above the limit. */
  spare: SpareConnections;
}

/** With it a GOAWAY takes nothing back: requests that cross it are answered too (RFC 9113, 6.8). */
const MAX_STREAM_ID = 2 ** 31 - 1;

/** How many requests of one connection begin in one turn of the event loop. */
const STREAMS_PER_TURN = 4;

/**
 * The open connections of a server, and how long each may go on.
 *
 * Node itself limits how slowly a request of HTTP/1.1 arrives, and nothing else.
 */
export class Connections {
  readonly #open = new Map<string, Connection>();
  readonly #limits: HttpLimits;
  readonly #refusals: Refusals;
  readonly #spare: SpareConnections;
  readonly #turns = new Turns(STREAMS_PER_TURN);
  /** HTTP/1.1: those on which something came that is no HTTP. */
  readonly #refused = new WeakSet<Socket>();
  #isDraining = false;

  constructor(server: Server, isTls: boolean, { limits, refusals, spare }: Dependencies) {
    this.#limits = limits;
    this.#refusals = refusals;
    this.#spare = spare;
    // A few more than are served, so that those above the limit can be answered.
    server.maxConnections = Math.ceil(limits.maxConnections * (1 + REFUSED_SHARE));
    server.on('connection', (socket: Socket) => {
      if (this.#open.size < limits.maxConnections) this.#add(socket);
      else if (isTls) refusals.close(socket);
      else spare.add(socket);
    });
    // Above that Node closes them by itself.
    server.on('drop', () => {
      refusals.dropped();
    });
    server.on('session', (session: ServerHttp2Session) => {
      const connection = this.#open.get(endpointsOf(session.socket));
      if (connection) connection.session = session;
    });
    const timer = setInterval(() => {
      this.#check();
    }, limits.checkInterval).unref();
    server.once('close', () => {
      clearInterval(timer);
    });
  }

  /** Answers a request by `answer`: over HTTP/1.1 once those before it on its connection are. */
  accept(request: IncomingMessage, response: ServerResponse, answer: () => unknown): void {
    const connection = this.#open.get(endpointsOf(request.socket));
    if (!connection) this.#spare.accept(request, response, answer);
    if (!connection || connection.isRefused) return;
    const exchange = new Exchange(request, response, answer);
    connection.exchanges.add(exchange);
    connection.hasServed = true;
    if (this.#isDraining) drain(connection);
    response.once('close', () => {
      this.#end(connection, exchange);
    });
    const { exchanges, pipelined } = connection;
    if (exchange.stream) {
      exchange.closeOnceAnswered(exchange.stream, this.#limits.lingerTimeout);
      void this.#answerInTurn(connection, exchange);
    } else if (exchanges.size === 1) answer();
    else if (pipelined.push(exchange) >= this.#limits.maxRequestsPerConnection)
      this.#refuse(connection);
  }

  /**
   * Answers what is no HTTP by the error that Node has for it, after the requests before it on its
   * connection. What else arrives on it is not looked at.
   */
  refuse(socket: Socket, reason: Error): void {
    if (this.#refused.has(socket)) return;
    const error = parserError(reason, socket);
    if (!error) {
      socket.destroy();
      return;
    }
    this.#refused.add(socket);
    const connection = this.#open.get(endpointsOf(socket));
    // Nothing waits for a request any more that took too long to arrive.
    const isLate = error.status === 408;
    const write = (): void => {
      if (isLate) this.#refusals.write(socket, error);
      else this.#refusals.writeLater(socket, error);
    };
    if (!connection || connection.exchanges.size === 0) {
      write();
      return;
    }
    const [current] = connection.exchanges;
    const broken = [...connection.exchanges].find(({ request }) => !request.complete);
    if (broken && broken === current) {
      // It is about the body of this very request.
      if (broken.response.headersSent) socket.destroy();
      else this.#refusals.write(socket, error);
      return;
    }
    if (broken) {
      connection.exchanges.delete(broken);
      connection.pipelined.pop();
    }
    connection.afterwards = write;
  }

  /**
   * Asks clients of HTTP/2 to send further requests on another connection; those that come all the
   * same are answered. One that has just connected is asked with its first request.
   */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#open.values()) if (connection.hasServed) drain(connection);
  }

  /** Closes connections without a request in progress; of HTTP/2 also the others, once they are done. */
  closeIdle(): void {
    for (const { exchanges, session, socket } of this.#open.values()) {
      if (session) session.close();
      else if (exchanges.size === 0) socket.destroy();
    }
  }

  /** How many requests were not yet answered in full. */
  get requestsInProgress(): number {
    return [...this.#open.values()].reduce((sum, { exchanges }) => sum + exchanges.size, 0);
  }

  #add(socket: Socket): void {
    const endpoints = endpointsOf(socket);
    const connection: Connection = {
      socket,
      session: undefined,
      exchanges: new Set(),
      pipelined: [],
      isRefused: false,
      hasServed: false,
      isDraining: false,
      idleSince: performance.now(),
    };
    this.#open.set(endpoints, connection);
    socket.once('close', () => {
      // Its client may have connected from the same port again.
      if (this.#open.get(endpoints) === connection) this.#open.delete(endpoints);
    });
  }

  /** Of streams that were opened together few begin at once; those that were reset meanwhile never. */
  async #answerInTurn({ exchanges, socket }: Connection, exchange: Exchange): Promise<void> {
    await this.#turns.next(endpointsOf(socket));
    if (exchanges.has(exchange)) exchange.answer();
  }

  #end(connection: Connection, exchange: Exchange): void {
    connection.exchanges.delete(exchange);
    connection.idleSince = performance.now();
    const next = connection.pipelined.shift();
    if (next && !next.request.socket.destroyed) next.answer();
    if (connection.exchanges.size === 0) connection.afterwards?.();
  }

  /** Lets what is being answered be finished, then says that this was too much. */
  #refuse(connection: Connection): void {
    const { exchanges, pipelined } = connection;
    connection.isRefused = true;
    for (const exchange of pipelined.splice(1)) exchanges.delete(exchange);
    for (const next of pipelined) {
      next.request.socket.pause();
      next.answer = () => {
        this.#refusals.send(next.request, next.response, serviceUnavailable.error(TOO_MANY));
      };
    }
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const { exchanges, idleSince, session, socket } = connection;
      if (exchanges.size === 0 && now - idleSince > this.#limits.idleTimeout) {
        // HTTP/2 clients get a last GOAWAY; its socket may be one that nothing can be written to.
        if (session && !session.closed) session.close();
        else socket.destroy();
      }
      for (const exchange of exchanges) this.#checkExchange(exchange, socket, now);
    }
  }

  #checkExchange(exchange: Exchange, socket: Socket, now: number): void {
    const { request, response, stream } = exchange;
    const { stallTimeout, requestTimeout: arrivalTimeout } = this.#limits;
    if (exchange.stalledFor(now) > stallTimeout) {
      // All of the answer was taken, but the client does not end its own side.
      if (stream && !stream.closed && response.writableLength === 0) stream.close();
      else socket.destroy();
    }
    // Of HTTP/1.1 Node itself checks it.
    if (!stream || exchange.arrivesFor(now) <= arrivalTimeout) return;
    if (response.headersSent) stream.close();
    else this.#refusals.send(request, response, requestTimeout());
  }
}

function drain(connection: Connection): void {
  const { session } = connection;
  if (connection.isDraining || !session || session.closed) return;
  connection.isDraining = true;
  session.goaway(constants.NGHTTP2_NO_ERROR, MAX_STREAM_ID);
}

const TOO_MANY = 'Too many requests were sent ahead of their answers on one connection.';

/** What a connection is known by, on the socket as on the TLS or HTTP/2 layers above it. */
function endpointsOf(
  socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>,
): string {
  return `${socket.localAddress} ${socket.remoteAddress} ${socket.remotePort}`;
}
