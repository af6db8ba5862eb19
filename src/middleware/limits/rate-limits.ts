import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import ipaddr from 'ipaddr.js';
import type { Context, Middleware } from 'koa';
import koaRateLimit from 'koa-ratelimit';

import { ApiError, rateLimited } from '../../core/errors';
import { REFUSAL_MS } from '../../core/http/request-limits';
import {
  AUTH_FAILURES,
  type ClientIpLogging,
  HOST_BUDGETS,
  hostSettings,
} from '../../core/settings/host-settings';
import type { Metrics } from '../../core/metrics';
import type { Setting, Settings } from '../../core/settings/settings';
import type { RedisConnection } from '../../data/redis-connection';
import type { ProtocolMethod } from '../../plugins/protocol-endpoint';
import { ExpiringMap, passes, RateLimit, rateLimitMetrics, WINDOW_SECONDS } from './rate-limit';
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

  /** Refuses an address whose failed authentications are spent. @throws ApiError rate_limited */
  async refuseSpent(ctx: Context): Promise<void> {
    if (this.authFailures.isSpent(clientBudget(ctx))) await this.authFailures.spend(ctx);
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

/**
 * Limits the requests of an address that need no token, in the memory of this process.
 *
 * @param max requests a minute
 */
function anonymousRateLimit(max: number): Middleware {
  const limit = limitOf(max);
  return async function anonymousRateLimit(ctx, next) {
    await limit(ctx);
    await next();
  };
}

/** Limits the requests of an address that are refused without a token, and its preflights. */
function refusalRateLimit(max: number): Middleware {
  const limit = limitOf(max);
  return async function refusalRateLimit(ctx, next) {
    if (ctx.method === 'OPTIONS') await limit(ctx);
    try {
      await next();
    } catch (error) {
      const isCounted = error instanceof ApiError && error.status < 429 && !ctx.state.principal;
      if (isCounted) await limit(ctx);
      throw error;
    }
  };
}

function limitOf(max: number): (ctx: Context) => Promise<void> {
  const limit = koaRateLimit({
    driver: 'memory',
    db: new ExpiringMap(),
    duration: WINDOW_SECONDS * 1000,
    max,
    id: clientBudget,
    disableHeader: true,
  });
  return async (ctx) => {
    if (await passes(limit, ctx)) return;
    await sleep(REFUSAL_MS);
    throw rateLimited.error(undefined, { headers: { 'Retry-After': String(WINDOW_SECONDS) } });
  };
}

/**
 * The address whose budget an unauthenticated request spends; for IPv6 the /64, which one customer has.
 * If a proxy forwards an invalid address, it is that of the socket.
 */
export function clientBudget({ ip, req }: Context): string {
  const sender = isIP(ip) === 0 ? (req.socket.remoteAddress ?? '') : ip;
  // A socket that was closed meanwhile has none.
  if (isIP(sender) === 0) return sender;
  const address = ipaddr.process(sender);
  return address instanceof ipaddr.IPv6 ? network(address, 64) : address.toString();
}

/**
 * A client address as it may be logged: masked it is the /24 of an IPv4 address or the /48 of an
 * IPv6 one, which many share.
 */
export function loggedAddress(ip: string, logging: ClientIpLogging): string | undefined {
  // What proxies forward may be anything.
  if (logging === 'off' || isIP(ip) === 0) return undefined;
  const address = ipaddr.process(ip);
  if (logging === 'full') return address.toString();
  if (address instanceof ipaddr.IPv6) return network(address, 48);
  return ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/24`).toString();
}

function network(address: ipaddr.IPv6, bits: number): string {
  const cidr = `${address.toString()}/${bits}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()}/${bits}`;
}
