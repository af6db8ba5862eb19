import type { Middleware } from 'koa';

import { ApiError } from '../../core/errors';
import { publicOriginOf, RESOURCE_DOCUMENT, TOOLS_PATH } from '../../core/settings/public-origin';
import type { Settings } from '../../core/settings/settings';

/**
 * Has each answer that asks for a token, or for another one, say where programs learn how people
 * sign in to them (RFC 9728), and which scopes they should ask for.
 */
export function challenge(settings: Settings, scopes: readonly string[]): Middleware {
  return async function challenge(ctx, next) {
    try {
      await next();
    } catch (error) {
      const asked = error instanceof ApiError ? error.headers['WWW-Authenticate'] : undefined;
      // What has a secret of its own, as the metrics may, is for no program of a person.
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
