import { pipeline, Readable, Transform } from 'node:stream';
import { randomUUID } from 'node:crypto';

import type { Context, Middleware, DefaultState } from 'koa';
import type { Logger } from 'pino';

import { hostSettings } from '../core/settings/host-settings';
import type { Authenticator } from '../core/identity';
import type { Settings } from '../core/settings/settings';
import { loggedAddress } from '../middleware/limits/rate-limits';
import type { Metrics } from '../core/metrics';

export interface RequestLogDependencies {
  settings: Settings;
  log: Logger;
  metrics: RequestMetrics;
  accounts: {
    /** Returns the pseudonym of an account in the log (see `AccountHash`). */
    hashAccount(accountId: string): string;
  };
  services: { identity: Pick<Authenticator, 'hasToken'> };
  lifecycle: Lifecycle;
}

/** The state of the process, which the app changes. */
export interface Lifecycle {
  /** Why only probes are served, while the service is starting. */
  starting: string | undefined;
  /** Whether the server is stopping and closes connections after each response. */
  isClosing: boolean;
  /** What operators should know about the requests so far, a sentence each. */
  readonly warnings: Set<string>;
}

/** Bounds of the histograms, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The status recorded when the client disconnects before the response, as in nginx. */
const CLIENT_CLOSED = 499;

const SPAN_DIGITS = 16;
/** Later versions may add fields; version 00 has these four only. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives each request an id and a trace; once it ends, logs it and records its metrics. */
export function requestLog(dependencies: RequestLogDependencies): Middleware {
  const { settings, log, metrics, accounts, services, lifecycle } = dependencies;
  const clientIp = settings.of(hostSettings.logClientIp);
  return async (ctx, next) => {
    const started = performance.now();
    const requestId = requestIdOf(ctx, services.identity) ?? randomUUID();
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
    if (lifecycle.isClosing) ctx.set('Connection', 'close');
    const bytesOf = countBytes(ctx);
    // Already resolved if the client left before the response.
    void sent.then((at) => {
      const seconds = (at - started) / 1000;
      const hasResponse = ctx.headerSent;
      metrics.observe(ctx.state, hasResponse ? ctx.status : CLIENT_CLOSED, seconds);
      const {
        operation = 'none',
        principal,
        garden,
        client,
        tool,
        code,
        reason,
        isProbe,
        log,
      } = ctx.state;
      log[isProbe ? 'debug' : 'info'](
        {
          method: ctx.method,
          operation,
          status: ctx.status,
          ms: Math.round(seconds * 1e4) / 10,
          account: principal && accounts.hashAccount(principal.account.id),
          token: principal?.token.id,
          garden: garden && accounts.hashAccount(garden.account.id),
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
function requestIdOf(ctx: Context, identity: Pick<Authenticator, 'hasToken'>): string | undefined {
  const given = ctx.get('X-Request-Id');
  if (!REQUEST_ID.test(given)) return undefined;
  const credentials = /\S{8,}$/.exec(ctx.get('Authorization'))?.[0];
  const isSecret = credentials !== undefined && given.includes(credentials);
  return isSecret || identity.hasToken(given) ? undefined : given;
}

/** Returns a function for the size of the body; that of a stream is counted while it is sent. */
function countBytes(ctx: Context): () => number {
  const body: unknown = ctx.body;
  // Koa's type omits that a length may be unknown.
  const length = ctx.length as number | undefined;
  if (!(body instanceof Readable)) {
    const bytes = ctx.method === 'HEAD' ? 0 : (length ?? 0);
    return () => bytes;
  }
  const counter = new ByteCounter();
  // The consumer of the stream sees its errors.
  ctx.body = pipeline(body, counter, () => undefined);
  // Koa removes Content-Length when the body becomes a stream.
  if (length !== undefined) ctx.length = length;
  return () => counter.bytes;
}

class ByteCounter extends Transform {
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: string, done: (e: null, c: Buffer) => void): void {
    this.bytes += chunk.length;
    done(null, chunk);
  }
}

/** Durations and results of requests and tool calls. */
export class RequestMetrics {
  readonly #duration;
  readonly #errors;
  readonly #toolDuration;
  readonly #toolCalls;
  /** Requests that came through a proxy which TRUST_PROXY does not cover. */
  readonly ignoredProxies;

  constructor(metrics: Metrics) {
    this.#duration = metrics.histogram(
      'http_request_duration_seconds',
      'Time from request to response, by operation and status',
      SECONDS,
      ['operation', 'status'],
    );
    this.#errors = metrics.counter(
      'http_errors_total',
      'Requests that failed, by operation and error code',
      ['operation', 'code'],
    );
    this.#toolDuration = metrics.histogram(
      'tool_call_duration_seconds',
      'Duration of tool calls',
      SECONDS,
      ['tool'],
    );
    this.#toolCalls = metrics.counter('tool_calls_total', 'Tool calls, by error code, or ok', [
      'tool',
      'code',
    ]);
    this.ignoredProxies = metrics.counter(
      'http_unheeded_proxy_requests_total',
      'Requests with X-Forwarded-For while TRUST_PROXY is 0',
    );
  }

  /** @param seconds from the request's headers until the response was sent or the client disconnected */
  observe({ operation = 'none', tool, code }: DefaultState, status: number, seconds: number): void {
    this.#duration.observe({ operation, status }, seconds);
    // The service did not fail, and clients that disconnect must not raise an alert.
    if (status === CLIENT_CLOSED) return;
    if (tool !== undefined) {
      this.#toolDuration.observe({ tool }, seconds);
      this.#toolCalls.inc({ tool, code: code ?? 'ok' });
    } else if (code !== undefined) {
      this.#errors.inc({ operation, code });
    }
  }
}

/** The place of a request in a distributed trace (W3C Trace Context). */
interface Trace {
  traceId: string;
  /** The span of this request. */
  spanId: string;
  /** The caller's span. */
  parentSpanId?: string;
}

/** Continues the trace of a `traceparent` header; begins one if that is missing or invalid. */
function traceOf(traceparent: string | undefined): Trace {
  const spanId = randomHex().slice(-SPAN_DIGITS);
  const [, version, traceId, parentSpanId, more] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && more)) {
    return { traceId: randomHex(), spanId };
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return traceOf(undefined);
  return { traceId, spanId, parentSpanId };
}

/** Returns 32 hex digits. `randomUUID` uses cached random bytes and is three times as fast. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
