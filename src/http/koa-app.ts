import { Readable, pipeline } from 'node:stream';
import { createBrotliCompress, createGzip } from 'node:zlib';

import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import helmet from 'koa-helmet';

import { validationError } from '../core/errors';
import { MAX_QUERY_PARAMETERS } from '../core/http/request-limits';
import { hostSettings } from '../core/settings/host-settings';
import { RESPONSE_HEADERS } from '../core/http/response-headers';
import { RESOURCE_DOCUMENT } from '../core/settings/public-origin';
import type { Settings } from '../core/settings/settings';
import type { Services } from '../middleware/chain';
import { challengeOf, recordedError } from '../middleware/client-error';
import { toolScopes } from '../plugins/operation-facts';
import type { ApiDescription } from '../plugins/protocol-endpoint';
import { requestLog, type RequestLogDependencies } from './request-log';
import { onlyProbesWhile, routes } from './routes';
import { METHODS } from './server';
import { BROTLI_OPTIONS, type Coding, compress, codingFor, setEtag } from '../core/http/content';

interface Dependencies extends RequestLogDependencies {
  services: Services;
}

/** Returns the Koa application: the middleware of every request, then the routes. */
export function koaApp(description: ApiDescription, dependencies: Dependencies): Koa {
  const { settings, log, lifecycle, services } = dependencies;
  const app = new Koa();
  const proxies = settings.of(hostSettings.trustProxy);
  app.proxy = proxies > 0;
  app.maxIpsCount = proxies;
  app.use(requestLog(dependencies));
  app.use(warnOfIgnoredProxy(dependencies));
  app.use(sliceLargeBodies);
  app.use(compression);
  app.use(errorShape(description, settings));
  app.use(services.rateLimits.refusals);
  app.use(requireTarget);
  app.use(securityHeaders(settings));
  app.use(corsFor(settings.of(hostSettings.corsOrigins)));
  app.use(onlyProbesWhile(lifecycle, description));
  for (const middleware of routes(description, services)) app.use(middleware);
  // Koa reports errors here that occur after the response has begun, such as a lost client.
  app.on('error', (error: Error) => {
    log.debug({ reason: error.message }, 'A connection failed during the response');
  });
  return app;
}

/** Sets the security headers that matter for JSON; those for pages would only cost bytes. */
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

/** Turns every error into a response with the Error body, or as the endpoint shows errors. */
function errorShape(description: ApiDescription, settings: Settings): Middleware {
  const resources = description.protocols
    .flatMap(({ path }) =>
      path.startsWith(RESOURCE_DOCUMENT) ? path.slice(RESOURCE_DOCUMENT.length) : [],
    )
    .sort();
  const scopes = toolScopes(description);
  return async (ctx, next) => {
    try {
      await next();
    } catch (failure) {
      const error = recordedError(ctx, failure);
      ctx.status = error.status;
      ctx.set(error.headers);
      const challenge = challengeOf(ctx, error, { settings, scopes, resources });
      if (challenge) ctx.set('WWW-Authenticate', challenge);
      const { showError } = ctx.state;
      if (showError) {
        showError(ctx, error);
        return;
      }
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(error.sent);
    }
  };
}

/** A host name or address with an optional port; HTTP allows an empty one. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[^\]\s]+\])(?::\d*)?$/;

/** Returns whether a header occurs at most once. Raw headers alternate names and values. */
function isOnce(name: string, rawHeaders: readonly string[]): boolean {
  const isNamed = (text: string, place: number): boolean =>
    place % 2 === 0 && text.length === name.length && text.toLowerCase() === name;
  return rawHeaders.filter(isNamed).length < 2;
}

/** Rejects targets that Node would reject without the Error body, or would accept and misread. */
const requireTarget: Middleware = async (ctx, next) => {
  const { httpVersion, headers, rawHeaders } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw validationError.error('The request must have a Host header.');
  }
  // With two of them, Node reads the first, and a proxy may have read the second.
  if (headers.host !== undefined && !(HOST.test(headers.host) && isOnce('host', rawHeaders))) {
    throw validationError.error(
      'The request must have exactly one Host header, with a valid name.',
    );
  }
  // An absolute-form target may be malformed.
  if (!/^[/*]/.test(ctx.url) && !URL.canParse(ctx.url)) {
    throw validationError.error('The request target is not a valid URL.');
  }
  // Koa compares each parameter with all others: 16 KB of them would take half a second.
  if (ctx.querystring.split('&', MAX_QUERY_PARAMETERS + 1).length > MAX_QUERY_PARAMETERS) {
    throw validationError.error(`The query must have at most ${MAX_QUERY_PARAMETERS} parameters.`);
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

const PROXY_IGNORED =
  'Requests carry X-Forwarded-For, but TRUST_PROXY is 0. Behind a proxy, all clients share one address, so a client that guesses tokens locks out the others. Set TRUST_PROXY to the number of proxies.';

/** Detects a proxy that TRUST_PROXY does not cover: its address would pass for the client's. */
function warnOfIgnoredProxy({ settings, log, metrics, lifecycle }: Dependencies): Middleware {
  const isTrusting = settings.of(hostSettings.trustProxy) > 0;
  return (ctx, next) => {
    if (!isTrusting && ctx.req.headers['x-forwarded-for'] !== undefined) {
      metrics.ignoredProxies.inc();
      if (!lifecycle.warnings.has(PROXY_IGNORED)) log.warn(PROXY_IGNORED);
      lifecycle.warnings.add(PROXY_IGNORED);
    }
    return next();
  };
}

/** How much of a body is written to the connection at once. */
const SLICE_BYTES = 64 * 1024;

/**
 * Sends large bodies as streams, so that a connection buffers only one slice that its client has not
 * read. TLS would copy the whole body at once: 100 unread responses of 3 MB took 370 MB, and now 80.
 */
const sliceLargeBodies: Middleware = async (ctx, next) => {
  await next();
  const body: unknown = ctx.body;
  const { length } = ctx;
  if (!(length > SLICE_BYTES && (typeof body === 'string' || Buffer.isBuffer(body)))) return;
  ctx.body = Readable.from(slicesOf(typeof body === 'string' ? Buffer.from(body) : body), {
    objectMode: false,
  });
  // Koa removes Content-Length when the body becomes a stream.
  ctx.length = length;
};

function* slicesOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += SLICE_BYTES) {
    yield content.subarray(at, at + SLICE_BYTES);
  }
}

/** Compresses bodies that are long enough and not yet encoded, for clients that accept it. */
const compression: Middleware = async (ctx, next) => {
  await next();
  const body: unknown = ctx.body;
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (!isWhole && !(body instanceof Readable)) return;
  if (ctx.res.hasHeader('Content-Encoding')) return;
  ctx.vary('Accept-Encoding');
  const coding = codingFor(ctx, isWhole ? ctx.length : Infinity);
  if (coding === undefined) return;
  if (ctx.res.hasHeader('ETag')) setEtag(ctx, ctx.response.get('ETag'), coding);
  ctx.set('Content-Encoding', coding);
  ctx.body = isWhole ? await compress(Buffer.from(body), coding) : compressedStream(body, coding);
};

function compressedStream(body: Readable, coding: Coding): Readable {
  const compressor = coding === 'br' ? createBrotliCompress(BROTLI_OPTIONS) : createGzip();
  // The consumer of the stream sees its errors.
  return pipeline(body, compressor, () => undefined);
}
