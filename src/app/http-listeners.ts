import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from 'pino';

import { Admission } from '../calls/admission';
import { AnswerCache } from '../calls/answer-cache';
import { CallPace } from '../calls/call-pace';
import { CallPipeline } from '../calls/pipeline';
import type { Quotas } from '../calls/quotas';
import { RateLimiter } from '../calls/rate-limit';
import type { RedisConnection } from '../calls/redis-connection';
import { hostSettings } from '../core/host-settings';
import type { Identity } from '../core/identity';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings';
import type { Availability } from '../data/availability';
import type { IdempotencyStore } from '../data/idempotency';
import type { WriteQueue } from '../data/write-queue';
import { koaApp } from '../http/koa-app';
import { PublicPace } from '../http/public-pace';
import { onlyProbesWhile } from '../http/only-probes';
import { RequestMetrics } from '../http/request-metrics';
import { routes } from '../http/routes';
import { UnheededProxy } from '../http/unheeded-proxy';
import type { Plugin } from '../plugins/plugin';
import type { ApiDescription } from '../plugins/transport';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Dependencies {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  redis: RedisConnection | undefined;
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
  availability: Availability;
  quotas: Quotas;
  identity: Identity;
  hashAccount: (accountId: string) => string;
  checkResponses: boolean;
  isSharded: boolean;
  isClosing: () => boolean;
  isStarting: () => boolean;
}

/** The HTTP side of the program; all of its ports share limits, caches and metrics. */
export class HttpListeners {
  readonly #dependencies: Dependencies;
  readonly #limiter: RateLimiter;
  readonly #admission: Admission;
  readonly #pace: CallPace;
  readonly #pipeline: CallPipeline;
  readonly #metrics: RequestMetrics;
  readonly #unheededProxy: UnheededProxy;

  constructor(dependencies: Dependencies) {
    const { plugins, settings, log, metrics, redis, isSharded } = dependencies;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    this.#dependencies = dependencies;
    const { readsMax } = hostSettings;
    // By a small budget an account would wait for calls that are refused anyway.
    const reads = Math.max(settings.of(readsMax), readsMax.fallback);
    this.#admission = new Admission(reads);
    this.#pace = new CallPace(reads);
    this.#limiter = new RateLimiter(Object.fromEntries(budgets), settings, redis, metrics);
    this.#metrics = new RequestMetrics(metrics);
    this.#unheededProxy = new UnheededProxy(settings, log, metrics);
    this.#pipeline = new CallPipeline({
      ...dependencies,
      admission: this.#admission,
      limiter: this.#limiter,
      answers: new AnswerCache(
        { megabytes: settings.of(hostSettings.answerCacheMegabytes), isSharded },
        metrics,
      ),
    });
  }

  /** What operators should know of the requests that come. */
  get warnings(): readonly string[] {
    return this.#unheededProxy.warnings;
  }

  /** What serves an API, or a part of it. */
  listenerOf(description: ApiDescription): RequestListener {
    const { availability, identity, isStarting } = this.#dependencies;
    const publicPace = new PublicPace();
    const koa = koaApp({
      ...this.#dependencies,
      metrics: this.#metrics,
      publicPace,
      unheededProxy: this.#unheededProxy,
      routes: [
        onlyProbesWhile(isStarting, description),
        ...routes(description, {
          pipeline: this.#pipeline,
          admission: this.#admission,
          pace: this.#pace,
          limiter: this.#limiter,
          publicPace,
          identity: {
            authenticate: (token, options) =>
              availability.read(() => identity.authenticate(token, options)),
          },
        }),
      ],
    });
    return koa.callback();
  }
}
