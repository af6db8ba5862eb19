import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { serviceUnavailable } from '../core/errors';
import type { Refusals } from './error-responses';

/**
 * HTTP/1.1 connections above the limit: a probe is answered, as a full server must not be taken for
 * a dead one, and anything else is refused.
 */
export class SpareConnections {
  readonly #probes: ReadonlySet<string>;
  readonly #patienceMs: number;
  readonly #refusals: Refusals;
  /** Those whose request is not there yet, with when it is no longer waited for. */
  readonly #waiting = new Map<Socket, NodeJS.Timeout>();

  /**
   * @param probes paths that are answered
   * @param patienceMs how long a request may take to arrive
   */
  constructor(probes: ReadonlySet<string>, patienceMs: number, refusals: Refusals) {
    this.#probes = probes;
    this.#patienceMs = patienceMs;
    this.#refusals = refusals;
  }

  add(socket: Socket): void {
    const timer = setTimeout(() => {
      this.#forget(socket);
      this.#refusals.write(socket, serviceUnavailable.error());
    }, this.#patienceMs);
    this.#waiting.set(socket, timer);
    socket.once('close', () => {
      this.#forget(socket);
    });
  }

  /** Answers the first request of a connection; others on it get no answer. */
  accept(request: IncomingMessage, response: ServerResponse, answer: () => unknown): void {
    if (!this.#forget(request.socket)) return;
    const [path = ''] = (request.url ?? '').split('?');
    if (this.#probes.has(path)) {
      response.shouldKeepAlive = false;
      answer();
    } else this.#refusals.write(request.socket, serviceUnavailable.error());
  }

  /** Answers whether its request was waited for. */
  #forget(socket: Socket): boolean {
    clearTimeout(this.#waiting.get(socket));
    return this.#waiting.delete(socket);
  }
}
