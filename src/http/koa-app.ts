import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { v4 } from 'uuid';

import { validationError } from '../core/errors';
import { hostSettings } from '../core/host-settings';
import type { Settings } from '../core/settings';
import { asApiError } from '../calls/failures';
import { compression } from './compression';
import { METHODS } from './methods';
import type { Metrics } from './metrics';
import { sliceLargeBodies } from './slices';

interface Dependencies {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  routes: readonly Middleware[];
  /** Whether the program is stopping: connections are then not kept. */
  isClosing: () => boolean;
}

/** The Koa application: what every request passes before and after its route. */
export function koaApp({ settings, log, metrics, routes, isClosing }: Dependencies): Koa {
  const app = new Koa();
  const proxies = settings.of(hostSettings.trustProxy);
  app.proxy = proxies > 0;
  app.maxIpsCount = proxies;
  app.use(requestLogging(log, metrics, isClosing));
  app.use(sliceLargeBodies);
  app.use(compression);
  app.use(errorShape);
  app.use(requireHost);
  app.use(securityHeaders(settings));
  app.use(corsFor(settings.of(hostSettings.corsOrigins)));
  for (const middleware of routes) app.use(middleware);
  // Errors after the answer began, such as a client that went away, end here.
  app.on('error', (error: Error) => {
    log.debug({ reason: error.message }, 'A connection failed while it was answered');
  });
  return app;
}

/** What matters for JSON; the headers that only concern pages would be ballast on slow networks. */
function securityHeaders(settings: Settings): Middleware {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: settings.of(hostSettings.tlsCertFile) !== undefined,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives each request its id, one line in the log and its place in the metrics. */
function requestLogging(log: Logger, metrics: Metrics, isClosing: () => boolean): Middleware {
  return async (ctx, next) => {
    const started = process.hrtime.bigint();
    const given = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(given) ? given : v4();
    const requestLog = log.child({ requestId });
    ctx.state['log'] = requestLog;
    ctx.state['sent'] = new Promise((resolve) => ctx.res.once('close', resolve));
    ctx.set('X-Request-Id', requestId);
    await next();
    // Asked afterwards, since stopping may have begun meanwhile.
    if (isClosing() && ctx.req.httpVersionMajor === 1) ctx.set('Connection', 'close');
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    // The route, not the path: paths carry ids, and query strings whatever people put there.
    const route = String(ctx['_matchedRoute'] ?? 'none');
    metrics.observe(ctx.method, route, ctx.status, seconds);
    requestLog.info(
      { method: ctx.method, route, status: ctx.status, ms: Math.round(seconds * 1e4) / 10 },
      'request',
    );
  };
}

/** Whatever fails, the caller gets the Error shape. */
const errorShape: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const answer = asApiError(error, ctx.state['log'] as Logger); // Set by the first middleware.
    ctx.status = answer.status;
    ctx.set(answer.headers);
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(answer.body);
  }
};

/** Node would refuse these by itself, but without the Error body. */
const requireHost: Middleware = async (ctx, next) => {
  if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined) {
    throw validationError.error('The request must have the header Host.');
  }
  await next();
};

function corsFor(origins: readonly string[]): Middleware {
  return cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      if (origins.includes('*')) return '*';
      return origins.includes(origin) ? origin : '';
    },
    allowMethods: METHODS.join(','),
    exposeHeaders:
      'Allow,ETag,X-Request-Id,RateLimit,RateLimit-Policy,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After,Idempotent-Replayed,WWW-Authenticate',
    maxAge: 86_400,
  });
}
