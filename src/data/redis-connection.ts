import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import { reasonOf } from '../core/values';

/** No request waits longer than this for Redis. */
const TIMEOUT_MS = 150;
/** A connection on which an answer is this late is given up: the network may have forgotten it. */
const SILENCE_MS = 2000;
/** After a failure Redis is not asked for this long, so that a slow one costs one wait, not one a request. */
const PAUSE_MS = 1000;

/**
 * A client whose commands fail in time. The library's own limit would also fail those whose answers
 * have come and which a busy process has not got round to reading.
 */
class RedisWithTimeout extends Redis {
  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const [command] = args;
    const timer = setTimeout(() => {
      // What has arrived is read before this runs.
      setImmediate(() => {
        if (!command.isSettled) command.reject(new Error('Command timed out'));
      });
    }, TIMEOUT_MS);
    const settled = (): void => {
      clearTimeout(timer);
    };
    command.promise.then(settled, settled);
    return super.sendCommand(...args);
  }
}

/** The connection to Redis: fast, or out of the way. */
export class RedisConnection {
  readonly client: Redis;
  #pausedUntil = -Infinity;
  #warned = false;
  readonly #log: Logger;

  constructor(url: string, log: Logger, metrics: Metrics) {
    this.#log = log;
    this.client = new RedisWithTimeout(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 1000,
      socketTimeout: SILENCE_MS,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    });
    metrics.reading({
      name: 'redis_up',
      help: 'Whether Redis answers, so that processes share rate limits',
      read: () => (this.client.status === 'ready' && !this.#warned ? 1 : 0),
    });
    // Without a listener an error of the connection would end the process.
    this.client.on('error', (error: Error) => {
      this.#warn(error);
    });
    // A connection that ended is one that calls no longer use, whatever comes of the next attempt.
    this.client.on('reconnecting', () => {
      this.#warn(new Error('The connection ended.'));
    });
    this.client.on('ready', () => {
      this.reportAnswer();
    });
  }

  /** Waits until Redis is there, or is known not to be, or for a second. */
  async opened(): Promise<void> {
    const settled = new AbortController();
    const outcomes = ['ready', 'error', 'close'] as const;
    await Promise.race([
      ...outcomes.map((outcome) => once(this.client, outcome, { signal: settled.signal })),
      sleep(1000, undefined, { signal: settled.signal }),
    ]).catch(() => undefined);
    settled.abort();
  }

  /** Whether it is worth asking Redis now. */
  isUsable(): boolean {
    return this.client.status === 'ready' && performance.now() >= this.#pausedUntil;
  }

  /** To be called when Redis answered: the next outage is another one. */
  reportAnswer(): void {
    if (!this.#warned) return;
    this.#warned = false;
    this.#log.info('Redis answers again: rate limits are shared');
  }

  /** To be called when a command failed. */
  reportFailure(error: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
    this.#warn(error);
  }

  /** Whether Redis answers. */
  async ping(): Promise<boolean> {
    try {
      await this.client.ping();
      this.reportAnswer();
      return true;
    } catch (error) {
      this.#warn(error);
      return false;
    }
  }

  close(): void {
    this.client.disconnect();
  }

  #warn(error: unknown): void {
    // Once for each outage: a reconnecting client fails many times a second.
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      { reason: reasonOf(error) },
      'Redis cannot be reached: rate limits go on in memory',
    );
  }
}
