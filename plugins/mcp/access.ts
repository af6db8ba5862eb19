import type { Context } from 'koa';

import {
  ApiError,
  type ErrorCode,
  insufficientScope,
  invalidToken,
  unauthorized,
} from '../../src/core/errors';
import { permits } from '../../src/core/gardens';
import { bearerToken, type Principal } from '../../src/core/identity';
import type { Operation } from '../../src/plugins/operation';
import { requiredScopes } from '../../src/plugins/operation-facts';
import type { ProtocolApi } from '../../src/plugins/protocol-endpoint';
import { isAccessToken, isJwt } from '../accounts';

/** At the tool endpoint a bad token gets 403 (docs/specification.md, 4.4). */
export const tokenRefused = invalidToken.at(403, invalidToken.meaning);

/** @throws ApiError in JSON-RPC for clients that read nothing else */
export async function authenticate(ctx: Context, api: ProtocolApi): Promise<Principal> {
  try {
    return await api.authenticate(ctx);
  } catch (error) {
    throw tokenRefusal(ctx, error) ?? error;
  }
}

/** The response to an error of authentication; undefined for any other. */
export function tokenRefusal(ctx: Context, error: unknown): ApiError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { kind } = error;
  if (kind !== unauthorized && kind !== invalidToken) return undefined;
  // Apps renew an access token only after a 401.
  return refusal(ctx, kind === unauthorized || isOfApp(ctx) ? kind : tokenRefused, error);
}

/**
 * The error by which an app learns which scopes to ask for, beside those that it has; undefined for any
 * other error, and for tokens that no app can ask for.
 */
export function scopeChallenge(
  error: ApiError,
  operation: Operation,
  { ctx, principal }: { ctx: Context; principal: Principal },
): ApiError | undefined {
  // What the role of a member does not permit, no scope does.
  const isOfToken = error.kind === insufficientScope && 'WWW-Authenticate' in error.headers;
  if (!isOfToken || !isOfApp(ctx)) return undefined;
  const { garden } = principal;
  const wanted = new Set([...principal.scopes, ...requiredScopes(operation)]);
  const scopes = [...wanted].filter((scope) => permits(garden, scope)).join(' ');
  const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes}"` };
  return refusal(ctx, insufficientScope, { message: error.message, headers });
}

/** Whether the token of a request came from a sign-in with an app. */
function isOfApp(ctx: Context): boolean {
  const token = bearerToken(ctx.get('Authorization')) ?? '';
  return isAccessToken(token) || isJwt(token);
}

/** MCP packages send it, and show only errors that are JSON-RPC. */
const EVENT_STREAM = /(^|,)\s*text\/event-stream\s*(;|,|$)/i;

/** None of the protocol's own codes, to which clients react. */
const NO_ACCESS = -32010;

function refusal(
  ctx: Context,
  kind: ErrorCode,
  { message, headers }: Pick<ApiError, 'message' | 'headers'>,
): ApiError {
  const error = { code: NO_ACCESS, message, data: { code: kind.code } };
  const rpcError = { sentAs: { jsonrpc: '2.0', id: null, error } };
  return kind.error(message, {
    headers,
    ...(EVENT_STREAM.test(ctx.get('Accept')) ? rpcError : {}),
  });
}
