import { pipeline, Readable, Transform } from 'node:stream';

import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { v4 } from 'uuid';

import { hostSettings } from '../core/settings/host-settings';
import { TOKEN_PREFIX } from '../core/identity';
import type { Settings } from '../core/settings/settings';
import { loggedAddress } from '../middleware/rate-limits/client-address';
import { bytesToSend } from '../middleware/conditional';
import { CLIENT_CLOSED, type RequestMetrics } from './request-metrics';
import { traceOf } from './trace';

export interface RequestLogDependencies {
  settings: Settings;
  log: Logger;
  metrics: RequestMetrics;
  /** Returns the pseudonym of an account in the log (see `AccountHash`). */
  hashAccount: (accountId: string) => string;
  /** Whether the server is stopping and closes connections after each response. */
  isClosing: () => boolean;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives each request an id and a trace; once it ends, logs it and records its metrics. */
export function requestLog(dependencies: RequestLogDependencies): Middleware {
  const { settings, log, metrics, hashAccount, isClosing } = dependencies;
  const clientIp = settings.of(hostSettings.logClientIp);
  return async (ctx, next) => {
    const started = performance.now();
    const requestId = requestIdOf(ctx) ?? v4();
    ctx.set('X-Request-Id', requestId);
    const sent = new Promise<number>((resolve) => {
      ctx.res.once('close', () => {
        resolve(performance.now());
      });
    });
    Object.assign(ctx.state, {
      log: log.child({ requestId, ...traceOf(ctx.req.headers['traceparent']?.toString()) }),
      sent,
      // Read now: a closed connection has no address.
      client: loggedAddress(ctx.ip, clientIp),
    });
    await next();
    // Checked after the request, because closing may have begun meanwhile.
    if (isClosing()) ctx.set('Connection', 'close');
    const bytesOf = countBytes(ctx);
    // Already resolved if the client left before the response.
    void sent.then((at) => {
      const seconds = (at - started) / 1000;
      const hasResponse = ctx.headerSent;
      metrics.observe(ctx.state, hasResponse ? ctx.status : CLIENT_CLOSED, seconds);
      const { operation = 'none', principal, client, tool, code, reason, isProbe, log } = ctx.state;
      log[isProbe ? 'debug' : 'info'](
        {
          method: ctx.method,
          operation,
          status: ctx.status,
          ms: Math.round(seconds * 1e4) / 10,
          account: principal && hashAccount(principal.account.id),
          token: principal?.token.id,
          client,
          tool,
          code,
          reason,
          bytes: hasResponse ? bytesOf() : 0,
          ...(hasResponse && ctx.res.writableFinished ? {} : { aborted: true }),
        },
        'request',
      );
    });
  };
}

/** Returns the caller's own request id, unless it contains a token or the credentials. */
function requestIdOf(ctx: Context): string | undefined {
  const given = ctx.get('X-Request-Id');
  if (!REQUEST_ID.test(given)) return undefined;
  const credentials = /\S{8,}$/.exec(ctx.get('Authorization'))?.[0];
  const isSecret = credentials !== undefined && given.includes(credentials);
  return isSecret || given.includes(TOKEN_PREFIX) ? undefined : given;
}

/** Returns a function for the size of the body; that of a stream is counted while it is sent. */
function countBytes(ctx: Context): () => number {
  const body: unknown = ctx.body;
  if (!(body instanceof Readable)) {
    const bytes = bytesToSend(ctx) ?? 0;
    return () => bytes;
  }
  const length = lengthOf(ctx);
  const counter = new ByteCounter();
  // The consumer of the stream sees its errors.
  ctx.body = pipeline(body, counter, () => undefined);
  // Koa removes Content-Length when the body becomes a stream.
  if (length !== undefined) ctx.length = length;
  return () => counter.bytes;
}

/** Koa's type omits that the length may be undefined. */
function lengthOf({ length }: { length: number | undefined }): number | undefined {
  return length;
}

class ByteCounter extends Transform {
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: string, done: (e: null, c: Buffer) => void): void {
    this.bytes += chunk.length;
    done(null, chunk);
  }
}
