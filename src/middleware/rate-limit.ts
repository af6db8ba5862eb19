import { setTimeout as sleep } from 'node:timers/promises';

import type { Context, Middleware } from 'koa';
import koaRateLimit from 'koa-ratelimit';
import { LRUCache } from 'lru-cache';

import { rateLimited } from '../core/errors';
import type { Metrics } from '../core/metrics';
import { REFUSAL_MS } from '../core/request-limits';
import type { RedisConnection } from '../data/redis-connection';
import { ExpiringMap, WINDOW_SECONDS } from './expiring-map';

/** How many spent budgets a process keeps in mind. */
const MAX_SPENT = 10_000;

interface Options {
  name: string;
  /** Calls a minute. */
  max: number;
  /** Whose budget a request spends: an account's id or a client's address. */
  id: (ctx: Context) => string;
}

/** Counts what rate limits do, for all budgets. */
export class RateLimitMetrics {
  readonly refusals;
  readonly fallbacks;

  constructor(metrics: Metrics) {
    this.refusals = metrics.counter(
      'rate_limited_total',
      'Calls that were refused because a budget was spent',
      ['budget'],
    );
    this.fallbacks = metrics.counter(
      'rate_limit_fallbacks_total',
      'Calls that were counted in memory because Redis was not there',
    );
  }
}

/**
 * One rate budget (docs/decisions.md, "Rate limits"): in Redis, so that all processes share it; in
 * this process's memory while Redis cannot be reached.
 */
export class RateLimit {
  readonly #options: Options;
  readonly #redis: RedisConnection | undefined;
  readonly #metrics: RateLimitMetrics;
  readonly #shared: Middleware | undefined;
  readonly #local: Middleware;
  readonly #spent = new LRUCache<string, true>({ max: MAX_SPENT });

  constructor(options: Options, redis: RedisConnection | undefined, metrics: RateLimitMetrics) {
    const { name, max, id } = options;
    const common = { duration: WINDOW_SECONDS * 1000, max, id, namespace: `rate:${name}` };
    this.#options = options;
    this.#redis = redis;
    this.#metrics = metrics;
    this.#shared = redis && koaRateLimit({ ...common, driver: 'redis', db: redis.client });
    this.#local = koaRateLimit({ ...common, driver: 'memory', db: new ExpiringMap() });
    metrics.refusals.inc({ budget: name }, 0);
  }

  /** Spends one call of the budget and sets the headers that say what is left, else rate_limited. */
  get middleware(): Middleware {
    const spend = (ctx: Context): Promise<void> => this.spend(ctx);
    return async function rateLimit(ctx, next) {
      await spend(ctx);
      await next();
    };
  }

  /** @throws ApiError rate_limited when nothing is left */
  async spend(ctx: Context): Promise<void> {
    const { name, max, id } = this.#options;
    const isLeft = await this.#count(ctx);
    const remaining = Number(ctx.response.get('X-RateLimit-Remaining'));
    // The library rounds the moment of the reset down; a client that waits must not come early.
    const reset = Number(ctx.response.get('X-RateLimit-Reset')) + 1;
    const left = Math.ceil(reset - limiterTime());
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, left));
    const clockMoved = Math.round(Date.now() / 1000 - limiterTime());
    ctx.set({
      'X-RateLimit-Reset': String(Math.ceil(reset) + clockMoved),
      'RateLimit-Policy': `"${name}";q=${max};w=${WINDOW_SECONDS}`,
      RateLimit: `"${name}";r=${remaining};t=${seconds}`,
    });
    if (remaining === 0) this.#spent.set(id(ctx), true, { ttl: seconds * 1000 });
    if (isLeft) return;
    // The error says it; the result of a tool call does not.
    ctx.remove('Retry-After');
    this.#metrics.refusals.inc({ budget: name });
    await sleep(REFUSAL_MS);
    throw rateLimited.error(undefined, { headers: { 'Retry-After': String(seconds) } });
  }

  /** Whether this process has seen that nothing is left. */
  isSpent(id: string): boolean {
    return this.#spent.has(id);
  }

  /** Runs the library's middleware; returns whether it would have let the request pass. */
  async #count(ctx: Context): Promise<boolean> {
    let isLeft = false;
    const pass = async (): Promise<void> => {
      isLeft = true;
    };
    if (this.#shared && this.#redis?.isUsable()) {
      try {
        await this.#shared(ctx, pass);
        this.#redis.reportAnswer();
        return isLeft;
      } catch (error) {
        this.#redis.reportFailure(error);
      }
    }
    this.#metrics.fallbacks.inc();
    await this.#local(ctx, pass);
    return isLeft;
  }
}

/**
 * The clock of the library, in seconds: that of the system as it was when the program started, and
 * from there on without the steps that it makes, as after a suspension.
 */
function limiterTime(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}
