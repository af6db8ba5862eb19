import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import type { Metrics } from '../../core/metrics';
import { withTimeout } from '../../core/async';
import { isConnectionError } from './errors';

/** How long a read waits before MongoDB is pinged. */
const SUSPECT_MS = 2000;
/** How long to wait between pings during an outage. */
const PAUSE_MS = 500;

/**
 * Knows whether MongoDB responds, so that reads fail soon during an outage; the driver takes 11 s to
 * notice a MongoDB that hangs. Slow reads are not affected.
 */
export class MongoHealth {
  #isDown = false;
  #isPinging = false;
  #isStopped = false;
  /** Rejects the reads in progress. */
  readonly #reads = new Set<(reason: unknown) => void>();
  readonly #ping: () => Promise<boolean>;
  readonly #log: Logger;

  /** @param ping returns whether MongoDB responds in time */
  constructor(ping: () => Promise<boolean>, log: Logger, metrics: Metrics) {
    this.#ping = ping;
    this.#log = log;
    metrics.reading({
      name: 'mongodb_up',
      help: 'Whether MongoDB responds',
      read: () => (this.#isDown ? 0 : 1),
    });
  }

  /**
   * Runs a read.
   *
   * @throws ApiError service_unavailable as soon as MongoDB is known not to respond
   */
  untilDown<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isDown) return Promise.reject(serviceUnavailable.error());
    return new Promise<T>((resolve, reject) => {
      this.#reads.add(reject);
      const timer = setTimeout(() => {
        this.suspect();
      }, SUSPECT_MS);
      work()
        .catch((error: unknown) => {
          if (isConnectionError(error)) this.suspect();
          throw error;
        })
        .finally(() => {
          clearTimeout(timer);
          this.#reads.delete(reject);
        })
        .then(resolve, reject);
    });
  }

  /** Reads each batch by {@link untilDown}. */
  async *eachUntilDown<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const item = await this.untilDown(() => iterator.next());
        if (item.done === true) return;
        yield item.value;
      }
    } finally {
      // Not awaited: it would hang with MongoDB.
      void iterator.return?.().catch(() => undefined);
    }
  }

  /** Returns whether MongoDB responds within so many milliseconds. */
  async respondsWithin(ms: number): Promise<boolean> {
    if (this.#isDown) return false;
    const isUp = (await withTimeout(ms, this.#ping())) ?? false;
    if (!isUp) this.suspect();
    return isUp;
  }

  /** Pings MongoDB, and during an outage until it responds. */
  suspect(): void {
    if (this.#isPinging) return;
    this.#isPinging = true;
    void this.#pingUntilUp().finally(() => {
      this.#isPinging = false;
    });
  }

  /** Stops pings; must be called before the connection is closed. */
  stop(): void {
    this.#isStopped = true;
  }

  async #pingUntilUp(): Promise<void> {
    while (!this.#isStopped && !(await this.#ping())) {
      if (!this.#isDown) this.#log.error('MongoDB does not respond');
      this.#isDown = true;
      for (const reject of this.#reads) reject(serviceUnavailable.error());
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
    if (this.#isDown) this.#log.info('MongoDB responds again');
    this.#isDown = false;
  }
}
