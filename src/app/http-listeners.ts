import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Identity } from '../core/identity';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import type { MongoHealth } from '../data/mongodb/mongo-health';
import type { RedisConnection } from '../data/redis-connection';
import type { WriteQueue } from '../data/writing/write-queue';
import { koaApp } from '../http/koa-app';
import { onlyProbesWhile } from '../http/only-probes';
import { RequestMetrics } from '../http/request-metrics';
import { routes } from '../http/routes';
import { UnheededProxy } from '../http/unheeded-proxy';
import { chainOf, type Services } from '../middleware/chain';
import { concurrency } from '../middleware/concurrency';
import { RateLimits } from '../middleware/rate-limits/rate-limits';
import { ResponseCache } from '../middleware/response-cache';
import type { Operation } from '../plugins/operation';
import type { Plugin } from '../plugins/plugin';
import type { ApiDescription } from '../plugins/protocol-endpoint';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** How many reads are worked on at once: each may be a long list. */
const MAX_READS = { perAccount: 4, total: 100 };
/** How many writes are: they mostly wait for a transaction that they then share (see WriteQueue). */
const MAX_WRITES = { perAccount: 100, total: 1000 };
/** How many calls with large bodies are, from the first byte on: each takes tens of megabytes. */
const MAX_LARGE = { perAccount: 1, total: 8 };

interface Dependencies {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  redis: RedisConnection | undefined;
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
  mongo: MongoHealth;
  identity: Identity;
  hashAccount: (accountId: string) => string;
  isSharded: boolean;
  isClosing: () => boolean;
  isStarting: () => boolean;
}

/** The HTTP side of the program; all of its ports share limits, caches and metrics. */
export class HttpListeners {
  readonly #dependencies: Dependencies;
  readonly #services: Services;
  readonly #metrics: RequestMetrics;
  readonly #unheededProxy: UnheededProxy;

  constructor(dependencies: Dependencies) {
    const { plugins, settings, log, metrics, redis, isSharded, mongo, identity } = dependencies;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    const megabytes = settings.of(hostSettings.answerCacheMegabytes);
    this.#dependencies = dependencies;
    this.#metrics = new RequestMetrics(metrics);
    this.#unheededProxy = new UnheededProxy(settings, log, metrics);
    this.#services = {
      ...dependencies,
      identity: {
        authenticate: (token, options) =>
          mongo.untilDown(() => identity.authenticate(token, options)),
      },
      rateLimits: new RateLimits(Object.fromEntries(budgets), settings, redis, metrics),
      concurrency: {
        reads: concurrency(MAX_READS),
        writes: concurrency(MAX_WRITES),
        large: concurrency(MAX_LARGE),
      },
      cache: new ResponseCache({ megabytes, isSharded }, metrics),
    };
  }

  /** What operators should know of the requests that come. */
  get warnings(): readonly string[] {
    return this.#unheededProxy.warnings;
  }

  /** The names of the steps that a request for an operation passes, in their order. */
  stepsOf(operation: Operation): string[] {
    return chainOf(operation, this.#services).map(({ name }) => name);
  }

  /** What serves an API, or a part of it. */
  listenerOf(description: ApiDescription): RequestListener {
    const koa = koaApp({
      ...this.#dependencies,
      metrics: this.#metrics,
      rateLimits: this.#services.rateLimits,
      unheededProxy: this.#unheededProxy,
      routes: [
        onlyProbesWhile(this.#dependencies.isStarting, description),
        ...routes(description, this.#services, this.#dependencies.settings),
      ],
    });
    return koa.callback();
  }
}
