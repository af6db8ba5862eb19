import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import type { Metrics } from '../../core/metrics';

const PAUSE_MS = 500;
const PING_MS = 1250;

/**
 * Pings MongoDB, so that reads fail soon during an outage: the driver takes 8 s to notice a MongoDB that
 * hangs, and its `timeoutMS` has no effect. Slow reads are not affected.
 */
export class MongoHealth {
  /** False until it is connected. */
  #isUp = false;
  #isStopped = false;
  /** Rejects the work in progress. */
  readonly #inProgress = new Set<(reason: unknown) => void>();
  readonly #ping: (ms: number) => Promise<boolean>;
  readonly #log: Logger;

  /** @param ping returns whether MongoDB responds within so many milliseconds */
  constructor(ping: (ms: number) => Promise<boolean>, log: Logger, metrics: Metrics) {
    this.#ping = ping;
    this.#log = log;
    metrics.reading({
      name: 'mongodb_up',
      help: 'Whether MongoDB responds',
      read: () => (this.#isUp ? 1 : 0),
    });
  }

  /**
   * Runs work that reads.
   *
   * @throws ApiError service_unavailable as soon as MongoDB is known not to respond
   */
  async failFast<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isUp) throw serviceUnavailable.error();
    return new Promise<T>((resolve, reject) => {
      this.#inProgress.add(reject);
      work()
        .finally(() => this.#inProgress.delete(reject))
        .then(resolve, reject);
    });
  }

  /** Returns whether MongoDB responds within so many milliseconds. */
  async respondsWithin(ms: number): Promise<boolean> {
    return this.#isUp && this.#ping(ms);
  }

  /** Pings MongoDB, which is connected, until {@link stop}. */
  async watch(): Promise<void> {
    this.#isUp = true;
    while (!this.#isStopped) {
      // The second takes another connection: only that of the first may be lost.
      this.#record((await this.#ping(PING_MS)) || (await this.#ping(PING_MS)));
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Ends the pings; must be called before the connection is closed. */
  stop(): void {
    this.#isStopped = true;
  }

  #record(isUp: boolean): void {
    if (this.#isStopped || isUp === this.#isUp) return;
    this.#isUp = isUp;
    if (isUp) {
      this.#log.info('MongoDB responds again');
      return;
    }
    this.#log.error('MongoDB does not respond');
    for (const reject of this.#inProgress) reject(serviceUnavailable.error());
  }
}
