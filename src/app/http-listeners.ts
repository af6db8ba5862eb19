import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Gardens, Identity } from '../core/identity';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import type { WriteQueue } from '../data/writing/write-queue';
import { koaApp } from '../http/koa-app';
import { type Lifecycle, RequestMetrics } from '../http/request-log';
import { chainOf, type Services } from '../middleware/chain';
import { concurrencyLimit } from '../middleware/limits/concurrency';
import { RateLimits } from '../middleware/limits/rate-limits';
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
/** The limit of concurrent exports. A slow client keeps its cursor and a few megabytes of the garden. */
const MAX_EXPORTS = { perAccount: 1, total: 8, maxSendMs: 300_000 };

interface Dependencies {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
  connections: ServerConnections;
  identity: Identity;
  gardens: Gardens | undefined;
  fence: Services['fence'];
  isSharded: boolean;
  lifecycle: Lifecycle;
}

/** The HTTP side of the app. All ports share its limits, caches and metrics. */
export class HttpListeners {
  readonly #dependencies: Dependencies;
  readonly #services: Services;
  readonly #metrics: RequestMetrics;

  constructor(dependencies: Dependencies) {
    const { plugins, settings, metrics, connections, isSharded } = dependencies;
    const { mongo, redis } = connections;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    const megabytes = settings.of(hostSettings.answerCacheMegabytes);
    this.#dependencies = dependencies;
    this.#metrics = new RequestMetrics(metrics);
    this.#services = {
      ...dependencies,
      mongo,
      rateLimits: new RateLimits(Object.fromEntries(budgets), settings, redis, metrics),
      concurrency: {
        reads: concurrencyLimit(MAX_READS),
        writes: concurrencyLimit(MAX_WRITES),
        large: concurrencyLimit(MAX_LARGE),
        exports: concurrencyLimit(MAX_EXPORTS),
      },
      cache: new ResponseCache({ megabytes, isSharded }, metrics),
    };
  }

  stepsOf(operation: Operation): string[] {
    return chainOf(operation, this.#services).map(({ name }) => name);
  }

  listenerOf(description: ApiDescription): RequestListener {
    const koa = koaApp(description, {
      ...this.#dependencies,
      accounts: this.#dependencies.connections,
      metrics: this.#metrics,
      services: this.#services,
    });
    return koa.callback();
  }
}
