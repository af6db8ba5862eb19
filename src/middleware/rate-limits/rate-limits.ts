import type { Middleware } from 'koa';

import { AUTH_FAILURES, HOST_BUDGETS, hostSettings } from '../../core/settings/host-settings';
import type { Metrics } from '../../core/metrics';
import type { Setting, Settings } from '../../core/settings/settings';
import type { RedisConnection } from '../../data/redis-connection';
import type { ProtocolMethod } from '../../plugins/protocol-endpoint';
import { anonymousRateLimit, refusalRateLimit } from './anonymous-rate-limit';
import { clientBudget } from './client-address';
import { RateLimit, rateLimitMetrics } from '../rate-limit';
import { callerOf } from '../state';

/** Public documents, and refusals, that an address may get in a minute. */
const MAX_DOCUMENTS = 1200;
/** Probes that it may send; apart from documents, so that these cannot make the service look dead. */
const MAX_PROBES = 6000;

/** All rate budgets: those of accounts by name, and those of addresses. */
export class RateLimits {
  /** Failed authentications of an address. */
  readonly authFailures: RateLimit;
  /** Requests of an address that are refused without a token. */
  readonly refusals = refusalRateLimit(MAX_DOCUMENTS);
  readonly #documents = anonymousRateLimit(MAX_DOCUMENTS);
  readonly #probes = anonymousRateLimit(MAX_PROBES);
  readonly #budgets: ReadonlyMap<string, RateLimit>;

  constructor(
    budgets: Readonly<Record<string, Setting<number>>>,
    settings: Settings,
    redis: RedisConnection | undefined,
    metrics: Metrics,
  ) {
    const counters = rateLimitMetrics(metrics);
    this.authFailures = new RateLimit(
      { name: AUTH_FAILURES, max: settings.of(hostSettings.authFailuresMax), id: clientBudget },
      redis,
      counters,
    );
    this.#budgets = new Map(
      Object.entries({ ...HOST_BUDGETS, ...budgets }).map(([name, setting]) => [
        name,
        new RateLimit(
          { name, max: settings.of(setting), id: (ctx) => callerOf(ctx).account.id },
          redis,
          counters,
        ),
      ]),
    );
  }

  /** The budget with this name. */
  of(name: string): RateLimit {
    const budget = this.#budgets.get(name);
    if (!budget) throw new Error(`There is no budget ${name}.`);
    return budget;
  }

  /** Limits an operation, or endpoint, that needs no token. */
  anonymous({ isProbe = false }: Pick<ProtocolMethod, 'isProbe'>): Middleware {
    return isProbe ? this.#probes : this.#documents;
  }
}
