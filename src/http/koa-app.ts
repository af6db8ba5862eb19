import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';

import { validationError } from '../core/errors';
import { hostSettings } from '../core/settings/host-settings';
import { RESPONSE_HEADERS } from '../core/http/response-headers';
import type { Settings } from '../core/settings/settings';
import { toClientError } from '../middleware/responses/client-error';
import type { RateLimits } from '../middleware/rate-limits/rate-limits';
import { recordError } from '../middleware/state';
import { compression } from './compression';
import { METHODS } from './methods';
import { requestLog, type RequestLogDependencies } from './request-log';
import { sliceLargeBodies } from './slices';
import type { UnheededProxy } from './unheeded-proxy';

interface Dependencies extends RequestLogDependencies {
  routes: readonly Middleware[];
  rateLimits: RateLimits;
  unheededProxy: UnheededProxy;
}

/** The Koa application: what every request passes before and after its route. */
export function koaApp(dependencies: Dependencies): Koa {
  const { settings, log, routes, rateLimits, unheededProxy } = dependencies;
  const app = new Koa();
  const proxies = settings.of(hostSettings.trustProxy);
  app.proxy = proxies > 0;
  app.maxIpsCount = proxies;
  app.use(requestLog(dependencies));
  app.use(unheededProxy.middleware);
  app.use(sliceLargeBodies);
  app.use(compression);
  app.use(errorShape);
  app.use(rateLimits.refusals);
  app.use(requireTarget);
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

/** Whatever fails, the caller gets the Error shape. */
const errorShape: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    const answer = toClientError(error, ctx.state.log);
    recordError(ctx, answer);
    ctx.status = answer.status;
    ctx.set(answer.headers);
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(answer.sent);
  }
};

/** A name or an address, and maybe a port; HTTP leaves it empty where there is none. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[^\]\s]+\])(?::\d*)?$/;

/** Whether a header comes once; names stand at every other place. */
function isOnce(name: string, rawHeaders: readonly string[]): boolean {
  const isNamed = (text: string, place: number): boolean =>
    place % 2 === 0 && text.length === name.length && text.toLowerCase() === name;
  return rawHeaders.filter(isNamed).length < 2;
}

/** What Node would refuse by itself, but without the Error body, or lets pass and cannot read. */
const requireTarget: Middleware = async (ctx, next) => {
  const { httpVersion, headers, rawHeaders } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw validationError.error('The request must have the header Host.');
  }
  // Of two Node takes the first one, and a proxy on the way maybe the other.
  if (headers.host !== undefined && !(HOST.test(headers.host) && isOnce('host', rawHeaders))) {
    throw validationError.error('The request must have one header Host with a valid name.');
  }
  // An absolute address may be none.
  if (!/^[/*]/.test(ctx.url) && !URL.canParse(ctx.url)) {
    throw validationError.error('The address of the request is not a valid URL.');
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
    exposeHeaders: Object.keys(RESPONSE_HEADERS).join(','),
    maxAge: 86_400,
  });
}
