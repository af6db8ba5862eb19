import { setTimeout as sleep } from 'node:timers/promises';

import type { Context, Middleware } from 'koa';
import koaRateLimit from 'koa-ratelimit';
import { LRUCache } from 'lru-cache';

import { rateLimited } from '../../core/errors';
import type { Metrics } from '../../core/metrics';
import { REFUSAL_MS } from '../../core/http/request-limits';
import type { RedisConnection } from '../../data/redis-connection';

/** After how many seconds a budget resets. */
export const WINDOW_SECONDS = 60;
/** How many spent budgets a process remembers. */
const MAX_SPENT = 10_000;

interface Options {
  name: string;
  /** Calls a minute. */
  max: number;
  /** Returns whose budget a request spends: the id of an account or the address of a client. */
  id: (ctx: Context) => string;
}

/** The metrics of all budgets. */
export function rateLimitMetrics(metrics: Metrics) {
  return {
    refusals: metrics.counter(
      'rate_limited_total',
      'Calls refused because their budget was spent',
      ['budget'],
    ),
    fallbacks: metrics.counter(
      'rate_limit_fallbacks_total',
      'Calls counted in memory because Redis was unavailable',
    ),
  };
}
type RateLimitMetrics = ReturnType<typeof rateLimitMetrics>;

/**
 * A rate budget (docs/api.md, "Rate limits"). It is kept in Redis, shared by all processes, or in the
 * memory of this process while Redis is unavailable.
 */
export class RateLimit {
  readonly #options: Options;
  readonly #redis: RedisConnection | undefined;
  readonly #metrics: RateLimitMetrics;
  readonly #shared: Middleware | undefined;
  readonly #local: Middleware;
  /** When spent budgets reset; until then their calls are refused without a look-up. */
  readonly #spent = new LRUCache<string, number>({ max: MAX_SPENT });

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

  /** Spends one call of the budget, see {@link spend}. */
  get middleware(): Middleware {
    const spend = (ctx: Context): Promise<void> => this.spend(ctx);
    return async function rateLimit(ctx, next) {
      await spend(ctx);
      await next();
    };
  }

  /**
   * Spends one call of the budget and sets the rate limit headers.
   *
   * @throws ApiError rate_limited when nothing is left
   */
  async spend(ctx: Context): Promise<void> {
    const { name, max, id } = this.#options;
    const spentUntil = this.#spent.get(id(ctx));
    const isLeft = spentUntil === undefined && (await this.#isLeft(ctx));
    const remaining = isLeft ? Number(ctx.response.get('X-RateLimit-Remaining')) : 0;
    // The library rounds down, and a client that waits must not retry too early.
    const reset = spentUntil ?? Number(ctx.response.get('X-RateLimit-Reset')) + 1;
    const left = Math.ceil(reset - limiterTime());
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, left));
    const clockMoved = Math.round(Date.now() / 1000 - limiterTime());
    if (remaining === 0) this.#spent.set(id(ctx), reset, { ttl: seconds * 1000 });
    ctx.set({
      'X-RateLimit-Limit': String(max),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(Math.ceil(reset) + clockMoved),
      'RateLimit-Policy': `"${name}";q=${max};w=${WINDOW_SECONDS}`,
      RateLimit: `"${name}";r=${remaining};t=${seconds}`,
    });
    if (isLeft) return;
    // The error carries it. The result of a tool call must not.
    ctx.remove('Retry-After');
    this.#metrics.refusals.inc({ budget: name });
    await sleep(REFUSAL_MS);
    throw rateLimited.error(undefined, { headers: { 'Retry-After': String(seconds) } });
  }

  /** Whether this process knows that the budget is spent. */
  isSpent(id: string): boolean {
    return this.#spent.has(id);
  }

  /** Counts a call: in Redis, or in memory while Redis is unavailable. */
  async #isLeft(ctx: Context): Promise<boolean> {
    if (this.#shared && this.#redis?.isUsable()) {
      try {
        const isLeft = await passes(this.#shared, ctx);
        // Without one left, the library only reads.
        if (isLeft) this.#redis.reportWrite();
        return isLeft;
      } catch (error) {
        this.#redis.reportFailure(error);
      }
    }
    this.#metrics.fallbacks.inc();
    return passes(this.#local, ctx);
  }
}

/** The clock of the library in seconds: monotonic since the start of the process. */
function limiterTime(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}

/** Runs koa-ratelimit without the steps after it; returns whether the request may pass. */
export async function passes(limit: Middleware, ctx: Context): Promise<boolean> {
  let isLeft = false;
  await limit(ctx, async () => {
    isLeft = true;
  });
  return isLeft;
}

/** When a budget resets, in seconds. */
interface Entry {
  reset: number;
}

/** The memory driver of koa-ratelimit never deletes entries; this map deletes those that have expired. */
export class ExpiringMap extends Map<string, Entry> {
  override set(key: string, entry: Entry): this {
    const now = entry.reset - WINDOW_SECONDS;
    super.delete(key);
    // Insertion order is the order of expiry.
    for (const [old, { reset }] of this) {
      if (reset > now) break;
      super.delete(old);
    }
    return super.set(key, entry);
  }
}
