import { setTimeout as sleep } from 'node:timers/promises';

import type { Redis } from 'ioredis';
import type { Context, Middleware } from 'koa';
import rateLimit from 'koa-ratelimit';

import { BoundedMap } from '../core/bounded-map';
import { rateLimited } from '../core/errors';
import { AUTH_FAILURES, HOST_BUDGETS, hostSettings } from '../core/host-settings';
import type { Metrics } from '../core/metrics';
import { REFUSAL_MS } from '../core/request-limits';
import type { Setting, Settings } from '../core/settings';
import type { RedisConnection } from './redis-connection';

const WINDOW_SECONDS = 60;

/** Where headers of an answer go; Koa's context is one. */
export interface ReplyHeaders {
  set(headers: Record<string, string>): void;
}

/** Spent budgets that a process keeps in mind. */
const MAX_SPENT = 10_000;

interface Budget {
  max: number;
  shared: Middleware | undefined;
  local: Middleware;
}

/** What a limiter found of one call. */
export interface Counted {
  passed: boolean;
  remaining: number;
  /** When the budget is whole again, by {@link limiterTime}. */
  reset: number;
}

/**
 * Spends rate budgets (docs/decisions.md, "Rate limits"): in Redis, so that all processes share
 * them; in this process's memory while Redis cannot be reached.
 */
export class RateLimiter {
  readonly #budgets: ReadonlyMap<string, Budget>;
  /** When budgets that are spent are so no more: until then nobody need be asked. */
  readonly #spentUntil = new BoundedMap<string, number>(MAX_SPENT);
  readonly #redis: RedisConnection | undefined;
  readonly #refusals;
  readonly #fallbacks;

  constructor(
    budgets: Readonly<Record<string, Setting<number>>>,
    settings: Settings,
    redis: RedisConnection | undefined,
    metrics: Metrics,
  ) {
    this.#redis = redis;
    const all = { ...HOST_BUDGETS, ...budgets, [AUTH_FAILURES]: hostSettings.authFailuresMax };
    this.#budgets = new Map(
      Object.entries(all).map(([name, setting]) => [
        name,
        makeBudget(name, settings.of(setting), redis?.client),
      ]),
    );
    this.#refusals = metrics.counter(
      'rate_limited_total',
      'Calls that were refused because a budget was spent',
      ['budget'],
    );
    for (const budget of this.#budgets.keys()) this.#refusals.inc({ budget }, 0);
    this.#fallbacks = metrics.counter(
      'rate_limit_fallbacks_total',
      'Calls that were counted in memory because Redis was not there',
    );
  }

  /**
   * Spends one call of a budget and sets the headers that say what is left.
   *
   * @param id whose budget: an account's id or a client's address
   * @param counted where that is done already
   * @throws ApiError rate_limited when nothing is left
   */
  async spend(
    name: string,
    id: string,
    reply: ReplyHeaders,
    counted = this.count(name, id),
  ): Promise<void> {
    const { passed, remaining, reset } = await counted;
    const { max } = this.#budgetOf(name);
    const left = Math.ceil(reset - limiterTime());
    const seconds = String(Math.min(WINDOW_SECONDS, Math.max(1, left)));
    const clockMoved = Math.round(Date.now() / 1000 - limiterTime());
    reply.set({
      'X-RateLimit-Limit': String(max),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(Math.ceil(reset) + clockMoved),
      'RateLimit-Policy': `"${name}";q=${max};w=${WINDOW_SECONDS}`,
      RateLimit: `"${name}";r=${remaining};t=${seconds}`,
    });
    if (passed) return;
    this.#refusals.inc({ budget: name });
    await sleep(REFUSAL_MS);
    throw rateLimited.error(undefined, { headers: { 'Retry-After': seconds } });
  }

  /** Counts one call; who refuses what is too much is {@link spend}. */
  async count(name: string, id: string): Promise<Counted> {
    const until = this.#resetOf(name, id);
    if (until !== undefined) return { passed: false, remaining: 0, reset: until };
    const counted = await this.#run(this.#budgetOf(name), id);
    if (counted.remaining === 0) this.#spentUntil.set(`${name} ${id}`, counted.reset);
    return counted;
  }

  /** Whether this process has seen that nothing is left of a budget; spending it then fails. */
  isSpent(name: string, id: string): boolean {
    return this.#resetOf(name, id) !== undefined;
  }

  #resetOf(name: string, id: string): number | undefined {
    const reset = this.#spentUntil.get(`${name} ${id}`);
    const left = reset === undefined ? 0 : reset - limiterTime();
    // More is left than there ever was where another process, with another clock, counted too.
    return left > 0 && left <= WINDOW_SECONDS + 1 ? reset : undefined;
  }

  #budgetOf(name: string): Budget {
    const budget = this.#budgets.get(name);
    if (!budget) throw new Error(`There is no budget ${name}.`);
    return budget;
  }

  async #run(budget: Budget, id: string): Promise<Counted> {
    if (budget.shared && this.#redis?.isUsable()) {
      try {
        const counted = await runLimiter(budget.shared, id);
        this.#redis.reportAnswer();
        return counted;
      } catch (error) {
        this.#redis.reportFailure(error);
      }
    }
    this.#fallbacks.inc();
    return runLimiter(budget.local, id);
  }
}

function makeBudget(name: string, max: number, redis: Redis | undefined): Budget {
  const common = {
    duration: WINDOW_SECONDS * 1000,
    max,
    namespace: `rate:${name}`,
    id: (ctx: Context) => String(ctx.state['id']),
  };
  return {
    max,
    shared: redis && rateLimit({ ...common, driver: 'redis', db: redis }),
    local: rateLimit({ ...common, driver: 'memory', db: new ExpiringMap(WINDOW_SECONDS * 1000) }),
  };
}

/** Runs the library's middleware outside of a request: calls do not only come over HTTP. */
async function runLimiter(limiter: Middleware, id: string): Promise<Counted> {
  const found: Record<string, number> = {};
  const context = {
    state: { id },
    set: (headers: Record<string, number> | string) => {
      if (typeof headers === 'object') Object.assign(found, headers);
    },
  };
  let passed = false;
  // The library touches nothing of a context but its state, `set`, and members that it assigns.
  await limiter(context as unknown as Parameters<Middleware>[0], async () => {
    passed = true;
  });
  const { 'X-RateLimit-Remaining': remaining = 0, 'X-RateLimit-Reset': reset = 0 } = found;
  // The library rounds the moment of the reset down; a client that waits must not come early.
  return { passed, remaining, reset: reset + 1 };
}

/**
 * The clock of the library, in seconds: that of the system as it was when the program started, and
 * from there on without the steps that it makes, as after a suspension.
 */
function limiterTime(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}

/** A map that forgets what was last set a while ago: the library's memory driver never does. */
class ExpiringMap extends Map<string, unknown> {
  readonly #setAt = new Map<string, number>();
  readonly #lifetimeMs: number;

  constructor(lifetimeMs: number) {
    super();
    this.#lifetimeMs = lifetimeMs;
  }

  override set(key: string, value: unknown): this {
    const now = performance.now();
    // Insertion order is the order of age, so the old ones are at the front.
    for (const [old, at] of this.#setAt) {
      if (at > now - this.#lifetimeMs) break;
      this.#setAt.delete(old);
      this.delete(old);
    }
    this.#setAt.delete(key);
    this.#setAt.set(key, now);
    return super.set(key, value);
  }
}
