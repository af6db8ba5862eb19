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

/** What the log and the metrics of requests need. */
export interface RequestLogDependencies {
  settings: Settings;
  log: Logger;
  metrics: RequestMetrics;
  /** What an account is called in the log (see `AccountHash`). */
  hashAccount: (accountId: string) => string;
  /** Whether the program is stopping: connections are then not kept. */
  isClosing: () => boolean;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives each request its ids and, once it is over, its line in the log and its place in the metrics. */
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
      // Asked now: a connection that is gone has no address any more.
      client: loggedAddress(ctx.ip, clientIp),
    });
    await next();
    // Asked afterwards, since stopping may have begun meanwhile.
    if (isClosing()) ctx.set('Connection', 'close');
    const bytesOf = countBytes(ctx);
    // Fulfilled already where the client left before the answer.
    void sent.then((at) => {
      const seconds = (at - started) / 1000;
      const isAnswered = ctx.headerSent;
      metrics.observe(ctx.state, isAnswered ? ctx.status : CLIENT_CLOSED, seconds);
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
          bytes: isAnswered ? bytesOf() : 0,
          ...(isAnswered && ctx.res.writableFinished ? {} : { aborted: true }),
        },
        'request',
      );
    });
  };
}

/** The caller's own id for the request, unless a token or the credentials are in it. */
function requestIdOf(ctx: Context): string | undefined {
  const given = ctx.get('X-Request-Id');
  if (!REQUEST_ID.test(given)) return undefined;
  const credentials = /\S{8,}$/.exec(ctx.get('Authorization'))?.[0];
  const isSecret = credentials !== undefined && given.includes(credentials);
  return isSecret || given.includes(TOKEN_PREFIX) ? undefined : given;
}

/** Counts the bytes of the body; those of one that is made piece by piece as they are sent. */
function countBytes(ctx: Context): () => number {
  const body: unknown = ctx.body;
  if (!(body instanceof Readable)) {
    const bytes = bytesToSend(ctx) ?? 0;
    return () => bytes;
  }
  const length = lengthOf(ctx);
  const counter = new ByteCounter();
  // What fails in it is seen by whoever reads the end of it.
  ctx.body = pipeline(body, counter, () => undefined);
  // Koa takes the length away from whatever becomes a stream.
  if (length !== undefined) ctx.length = length;
  return () => counter.bytes;
}

/** Koa's own type does not know that there may be none. */
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
