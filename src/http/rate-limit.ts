import type { Redis } from 'ioredis';
import type { Context, Middleware } from 'koa';
import rateLimit from 'koa-ratelimit';

import { rateLimited } from '../errors';
import { hostSettings, type Setting, type Settings } from '../settings';
import type { RedisLink } from './redis-link';

/** Budgets of the host itself; plugins add their own. All are calls a minute. */
export const HOST_BUDGETS: Readonly<Record<string, Setting<number>>> = {
  reads: hostSettings.readsMax,
  writes: hostSettings.writesMax,
};

/** What failed authentications spend, per client address. */
export const AUTH_FAILURES = 'auth-failures';

const WINDOW_SECONDS = 60;

interface Budget {
  max: number;
  shared: Middleware | undefined;
  local: Middleware;
}

/**
 * Spends rate budgets (decisions.md, "Rate limits"): in Redis, so that all processes share them;
 * in this process's memory while Redis cannot be reached.
 */
export class RateLimiter {
  readonly #budgets: ReadonlyMap<string, Budget>;

  constructor(
    budgets: Readonly<Record<string, Setting<number>>>,
    settings: Settings,
    private readonly redis: RedisLink | undefined,
  ) {
    const all = { ...HOST_BUDGETS, ...budgets, [AUTH_FAILURES]: hostSettings.authFailuresMax };
    this.#budgets = new Map(
      Object.entries(all).map(([name, setting]) => [
        name,
        makeBudget(name, settings.of(setting), redis?.client),
      ]),
    );
  }

  /**
   * Spends one call of a budget and sets the headers that say what is left.
   *
   * @param id whose budget: an account's id or a client's address
   * @throws ApiError rate_limited when nothing is left
   */
  async spend(name: string, id: string, ctx: Context): Promise<void> {
    const budget = this.#budgets.get(name);
    if (!budget) throw new Error(`There is no budget ${name}.`);
    ctx.state['rateLimitId'] = id;
    const passed = await this.#spend(budget, ctx);
    const remaining = Number(ctx.response.get('X-RateLimit-Remaining'));
    // The library rounds the moment of the reset down; a client that waits must not come early.
    const reset = Number(ctx.response.get('X-RateLimit-Reset')) + 1;
    const seconds = Math.min(WINDOW_SECONDS, Math.max(1, reset - Math.floor(Date.now() / 1000)));
    ctx.set('X-RateLimit-Reset', String(Math.ceil(reset)));
    ctx.set('RateLimit-Policy', `"${name}";q=${budget.max};w=${WINDOW_SECONDS}`);
    ctx.set('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(seconds)}`);
    if (passed) return;
    ctx.remove('Retry-After');
    throw rateLimited.error(undefined, { headers: { 'Retry-After': String(Math.ceil(seconds)) } });
  }

  async #spend(budget: Budget, ctx: Context): Promise<boolean> {
    if (budget.shared && this.redis?.isUsable()) {
      try {
        const passed = await runs(budget.shared, ctx);
        this.redis.answered();
        return passed;
      } catch (error) {
        this.redis.failed(error);
      }
    }
    return runs(budget.local, ctx);
  }
}

function makeBudget(name: string, max: number, redis: Redis | undefined): Budget {
  const common = {
    duration: WINDOW_SECONDS * 1000,
    max,
    namespace: `rate:${name}`,
    id: (ctx: Context) => String(ctx.state['rateLimitId']),
  };
  return {
    max,
    shared: redis && rateLimit({ ...common, driver: 'redis', db: redis }),
    local: rateLimit({ ...common, driver: 'memory', db: new ExpiringMap(WINDOW_SECONDS * 1000) }),
  };
}

/** Whether a limiter lets a request pass. Its own answer is undone: errors are answered centrally. */
async function runs(limiter: Middleware, ctx: Context): Promise<boolean> {
  const outcome = { passed: false };
  await limiter(ctx, async () => {
    outcome.passed = true;
  });
  if (!outcome.passed) ctx.body = null;
  return outcome.passed;
}

/** A map that forgets what was last set a while ago: the library's memory driver never does. */
class ExpiringMap extends Map<string, unknown> {
  readonly #setAt = new Map<string, number>();

  constructor(private readonly lifetimeMs: number) {
    super();
  }

  override set(key: string, value: unknown): this {
    const now = Date.now();
    // Insertion order is the order of age, so the old ones are at the front.
    for (const [old, at] of this.#setAt) {
      if (at > now - this.lifetimeMs) break;
      this.#setAt.delete(old);
      this.delete(old);
    }
    this.#setAt.delete(key);
    this.#setAt.set(key, now);
    return super.set(key, value);
  }
}
