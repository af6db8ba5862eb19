import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Identity } from '../core/identity';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
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
import type { ServerConnections } from './server-connections';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The limit of concurrent reads: each may be a long list. */
const MAX_READS = { perAccount: 4, total: 100 };
/** The limit of concurrent writes: most wait for a transaction that they share (see WriteQueue). */
const MAX_WRITES = { perAccount: 100, total: 1000 };
/** The limit of concurrent calls with large bodies, each of which takes tens of megabytes. */
const MAX_LARGE = { perAccount: 1, total: 8 };

interface Dependencies {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
  connections: ServerConnections;
  identity: Identity;
  isSharded: boolean;
  isClosing: () => boolean;
  isStarting: () => boolean;
}

/** The HTTP side of the app. All ports share its limits, caches and metrics. */
export class HttpListeners {
  readonly #dependencies: Dependencies;
  readonly #services: Services;
  readonly #metrics: RequestMetrics;
  readonly #unheededProxy: UnheededProxy;

  constructor(dependencies: Dependencies) {
    const { plugins, settings, log, metrics, connections, isSharded, identity } = dependencies;
    const { mongo, redis } = connections;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    const megabytes = settings.of(hostSettings.answerCacheMegabytes);
    this.#dependencies = dependencies;
    this.#metrics = new RequestMetrics(metrics);
    this.#unheededProxy = new UnheededProxy(settings, log, metrics);
    this.#services = {
      ...dependencies,
      mongo,
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

  get warnings(): readonly string[] {
    return this.#unheededProxy.warnings;
  }

  stepsOf(operation: Operation): string[] {
    return chainOf(operation, this.#services).map(({ name }) => name);
  }

  listenerOf(description: ApiDescription): RequestListener {
    const { connections, isStarting, settings } = this.#dependencies;
    const koa = koaApp({
      ...this.#dependencies,
      hashAccount: (accountId) => connections.hashAccount(accountId),
      metrics: this.#metrics,
      rateLimits: this.#services.rateLimits,
      unheededProxy: this.#unheededProxy,
      routes: [
        onlyProbesWhile(isStarting, description),
        ...routes(description, this.#services, settings),
      ],
    });
    return koa.callback();
  }
}
