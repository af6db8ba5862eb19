import type { Middleware } from 'koa';

import { serviceUnavailable } from '../core/errors';
import type { ApiDescription } from '../plugins/protocol-endpoint';

/** Responds 503 to everything but probes while the service is starting. */
export function onlyProbesWhile(
  isStarting: () => boolean,
  { protocols }: ApiDescription,
): Middleware {
  const probes = new Set(
    protocols
      .filter(({ methods }) => Object.values(methods).some(({ isProbe }) => isProbe))
      .map(({ path }) => path),
  );
  return async (ctx, next) => {
    if (isStarting() && !probes.has(ctx.path)) {
      throw serviceUnavailable.error('The service is starting; try again shortly.');
    }
    await next();
  };
}
