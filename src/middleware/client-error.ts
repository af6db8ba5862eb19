import type { Context } from 'koa';
import type { Logger } from 'pino';

import { ApiError, internalError, serviceUnavailable } from '../core/errors';
import { publicOriginOf, RESOURCE_DOCUMENT } from '../core/settings/public-origin';
import type { Settings } from '../core/settings/settings';
import { mayRetry, wasEnded } from '../data/mongodb/errors';

/** Returns the error response to a failure, and logs what operators need to know. */
export function toClientError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) {
    // The log line of the request already says that the service is unavailable.
    if (error.status >= 500 && error.kind !== serviceUnavailable) {
      log.error({ err: error.cause ?? error }, error.message);
    }
    return error;
  }
  if (mayRetry(error) || wasEnded(error)) {
    // `MongoHealth` logs each outage once.
    log.debug({ err: error }, 'The database is unavailable, or took too long');
    return serviceUnavailable.error();
  }
  log.error({ err: error }, 'A request failed unexpectedly');
  return internalError.error();
}

/** The same, and records the error for the log line of the request, or of the tool call. */
export function recordedError({ state }: Context, failure: unknown): ApiError {
  const error = toClientError(failure, state.log);
  const { body, logged, message, status } = error;
  state.code = body.code;
  // The message of a client error may quote personal data.
  const reason = status >= 500 ? message : logged;
  if (reason !== undefined) state.reason = reason;
  return error;
}

/**
 * Returns the `WWW-Authenticate` header of an error with the URL of the resource metadata (RFC 9728) and
 * the scopes that clients should request; undefined if the error has no such header.
 *
 * @param resources the paths of resources with metadata, sorted
 */
export function challengeOf(
  ctx: Context,
  { headers: { 'WWW-Authenticate': asked } }: ApiError,
  {
    settings,
    scopes,
    resources,
  }: { settings: Settings; scopes: readonly string[]; resources: readonly string[] },
): string | undefined {
  // Also because a malformed target has no path.
  if (asked === undefined) return undefined;
  const resource = resources.findLast((path) => ctx.path.startsWith(path));
  if (resource === undefined) return undefined;
  // Paths outside /api/, such as the metrics, have tokens of their own.
  const origin = ctx.path.startsWith('/api/') ? publicOriginOf(settings, ctx.req) : undefined;
  if (origin === undefined) return asked;
  const facts = [
    `resource_metadata="${origin}${RESOURCE_DOCUMENT}${resource}"`,
    ...(asked.includes('scope=') ? [] : [`scope="${scopes.join(' ')}"`]),
  ];
  return `${asked}${asked === 'Bearer' ? ' ' : ', '}${facts.join(', ')}`;
}
