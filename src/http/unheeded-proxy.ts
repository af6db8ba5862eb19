import type { Middleware } from 'koa';
import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';

const WARNING =
  'Requests carry X-Forwarded-For, but TRUST_PROXY is 0. Behind a proxy, all clients share one address, so a client that guesses tokens locks out the others. Set TRUST_PROXY to the number of proxies.';

/** Detects a proxy that TRUST_PROXY does not cover: its address would pass for the client's. */
export class UnheededProxy {
  readonly #isTrusting: boolean;
  readonly #log: Logger;
  readonly #requests;
  #isSeen = false;

  constructor(settings: Settings, log: Logger, metrics: Metrics) {
    this.#isTrusting = settings.of(hostSettings.trustProxy) > 0;
    this.#log = log;
    this.#requests = metrics.counter(
      'http_unheeded_proxy_requests_total',
      'Requests with X-Forwarded-For while TRUST_PROXY is 0',
      [],
    );
    this.#requests.inc({}, 0);
  }

  /** The warning for operators, once there has been such a request. */
  get warnings(): string[] {
    return this.#isSeen ? [WARNING] : [];
  }

  readonly middleware: Middleware = (ctx, next) => {
    if (!this.#isTrusting && ctx.req.headers['x-forwarded-for'] !== undefined) {
      this.#requests.inc({});
      if (!this.#isSeen) this.#log.warn(WARNING);
      this.#isSeen = true;
    }
    return next();
  };
}
