import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import type { Metrics } from '../../core/metrics';
import { withTimeout } from '../../core/async/timeout';
import { isConnectionError } from './errors';

/** How long a read may wait before it is asked whether MongoDB is there at all. */
const SUSPECT_MS = 2000;
/** How long to wait before a MongoDB that is away is asked again. */
const PAUSE_MS = 500;

/**
 * Whether MongoDB answers, so that nobody waits for one that does not: the driver takes 11 s to
 * notice one that hangs. A read that is merely slow may take its time.
 */
export class MongoHealth {
  #isAway = false;
  #isAsking = false;
  #isStopped = false;
  /** How to end the reads that are under way. */
  readonly #reads = new Set<(reason: unknown) => void>();
  readonly #ping: () => Promise<boolean>;
  readonly #log: Logger;

  /** @param ping whether MongoDB answers, and soon */
  constructor(ping: () => Promise<boolean>, log: Logger, metrics: Metrics) {
    this.#ping = ping;
    this.#log = log;
    metrics.reading({
      name: 'mongodb_up',
      help: 'Whether MongoDB answers',
      read: () => (this.#isAway ? 0 : 1),
    });
  }

  /**
   * The result of a read, as long as MongoDB answers.
   *
   * @throws ApiError service_unavailable as soon as it is known that it does not
   */
  untilDown<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isAway) return Promise.reject(serviceUnavailable.error());
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

  /** The same batches, each read as by {@link untilDown}. */
  async *eachUntilDown<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const item = await this.untilDown(() => iterator.next());
        if (item.done === true) return;
        yield item.value;
      }
    } finally {
      // Not waited for: where MongoDB hangs it ends when that does.
      void iterator.return?.().catch(() => undefined);
    }
  }

  /** Whether MongoDB answers within so many milliseconds. */
  async answersWithin(ms: number): Promise<boolean> {
    if (this.#isAway) return false;
    const isThere = (await withTimeout(ms, this.#ping())) ?? false;
    if (!isThere) this.suspect();
    return isThere;
  }

  /** Finds out whether MongoDB is away; to be called where there is a reason to think so. */
  suspect(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#askUntilThere().finally(() => {
      this.#isAsking = false;
    });
  }

  /** To be called before the connection is closed, which is then not asked any more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #askUntilThere(): Promise<void> {
    while (!this.#isStopped && !(await this.#ping())) {
      if (!this.#isAway) this.#log.error('MongoDB does not answer');
      this.#isAway = true;
      for (const reject of this.#reads) reject(serviceUnavailable.error());
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
    if (this.#isAway) this.#log.info('MongoDB answers again');
    this.#isAway = false;
  }
}
