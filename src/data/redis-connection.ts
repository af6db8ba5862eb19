import { once } from 'node:events';

import { Redis } from 'ioredis';
import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import { withTimeout } from '../core/async';
import { reasonOf } from '../core/values';

/** How long a starting program waits for Redis. */
const OPEN_MS = 1000;
/** How long a request waits for Redis. */
const TIMEOUT_MS = 150;
/** A connection without a response for this long is closed: the network may have dropped it. */
const SILENCE_MS = 2000;
/** How long Redis is not used after a failure, so that a slow one delays one request, not each. */
const PAUSE_MS = 1000;
/** Errors that another connection may not get: after a failover, the name is that of the new primary. */
const OF_CONNECTION = /\b(?:READONLY|MASTERDOWN|NOAUTH)\b/;
/** Writes as rate limits do: by a script, whose errors differ from those of its commands alone. */
const PROBE = "redis.call('ZADD', KEYS[1], 1, 1) redis.call('PEXPIRE', KEYS[1], 1000)";
const PROBE_KEY = 'rate:probe';

/**
 * A client whose commands time out. The library's own timeout also fails commands whose responses have
 * arrived but were not yet read by a busy process.
 */
class RedisWithTimeout extends Redis {
  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const [command] = args;
    const timer = setTimeout(() => {
      // Responses that have arrived are read first.
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

/** The connection to Redis. */
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
      retryStrategy: (attempt) => Math.max(Math.min(attempt * 100, 2000), this.#pauseMs()),
      reconnectOnError: ({ message }) => OF_CONNECTION.test(message),
    });
    metrics.reading({
      name: 'redis_up',
      help: 'Whether Redis takes writes, so that processes share rate limits',
      read: async () => ((await this.refusal()) === undefined ? 1 : 0),
    });
    // Without a listener an error would end the process.
    this.client.on('error', (error: Error) => {
      this.#warn(error);
    });
    // Requests no longer use the connection, whether or not the next attempt succeeds.
    this.client.on('reconnecting', () => {
      this.#warn(new Error('The connection ended.'));
    });
    this.client.on('ready', () => {
      void this.refusal();
    });
  }

  /** Waits until Redis is connected, or known to be unavailable, but not for long. */
  async opened(): Promise<void> {
    // It rejects with an error of the connection.
    await withTimeout(OPEN_MS, once(this.client, 'ready')).catch(() => undefined);
  }

  /** Whether Redis can be used now. */
  isUsable(): boolean {
    return this.client.status === 'ready' && this.#pauseMs() === 0;
  }

  /** Must be called when a write worked, and only then: a Redis that responds may refuse writes. Ends an outage. */
  reportWrite(): void {
    if (!this.#warned) return;
    this.#warned = false;
    this.#log.info('Redis is available again: rate limits are shared');
  }

  /** Must be called when a command fails. */
  reportFailure(error: unknown): void {
    this.#pausedUntil = performance.now() + PAUSE_MS;
    this.#warn(error);
  }

  /** Writes, and returns why that failed; undefined if it worked. */
  async refusal(): Promise<string | undefined> {
    try {
      await this.client.eval(PROBE, 1, PROBE_KEY);
      this.reportWrite();
      return undefined;
    } catch (error) {
      this.reportFailure(error);
      return reasonOf(error);
    }
  }

  close(): void {
    this.client.disconnect();
  }

  /** For how long Redis is not used. */
  #pauseMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  #warn(error: unknown): void {
    // Once for each outage: a client that reconnects fails many times a second.
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      { reason: reasonOf(error) },
      'Redis is unavailable: rate limits are counted in memory',
    );
  }
}
