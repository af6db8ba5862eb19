import type { Middleware } from 'koa';

import { ApiError } from '../../core/errors';
import { publicOriginOf, RESOURCE_DOCUMENT, TOOLS_PATH } from '../../core/settings/public-origin';
import type { Settings } from '../../core/settings/settings';

/**
 * Adds to each `WWW-Authenticate` header the URL of the resource metadata (RFC 9728), and the scopes
 * that clients should request.
 */
export function challenge(settings: Settings, scopes: readonly string[]): Middleware {
  return async function challenge(ctx, next) {
    try {
      await next();
    } catch (error) {
      const asked = error instanceof ApiError ? error.headers['WWW-Authenticate'] : undefined;
      // Paths outside /api/, such as the metrics, have tokens of their own.
      const origin = ctx.path.startsWith('/api/') ? publicOriginOf(settings, ctx.req) : undefined;
      if (error instanceof ApiError && asked !== undefined && origin !== undefined) {
        const place = ctx.path.startsWith(TOOLS_PATH) ? TOOLS_PATH : '';
        const facts = [
          `resource_metadata="${origin}${RESOURCE_DOCUMENT}${place}"`,
          ...(asked.includes('scope=') ? [] : [`scope="${scopes.join(' ')}"`]),
        ];
        const separator = asked === 'Bearer' ? ' ' : ', ';
        error.headers['WWW-Authenticate'] = `${asked}${separator}${facts.join(', ')}`;
      }
      throw error;
    }
  };
}
