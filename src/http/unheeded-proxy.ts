import type { Middleware } from 'koa';
import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';

const WARNING =
  'Requests come with X-Forwarded-For, and TRUST_PROXY is 0: if there is a proxy in front, all of its clients count as one address, and one that guesses tokens locks the others out. Set TRUST_PROXY to the number of proxies.';

/** Notices a proxy of which the settings know nothing: it would be taken for the client. */
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

  /** What operators should know, once there was such a request. */
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
