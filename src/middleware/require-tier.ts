import type { Middleware } from 'koa';

import { featureNotAvailable } from '../core/errors';
import type { Feature } from '../plugins/operation';
import { callerOf } from './state';

/** Requires a tier that has the feature. @throws ApiError feature_not_available */
export function requireTier({ name, tiers }: Feature): Middleware {
  return async function requireTier(ctx, next) {
    const { tier } = callerOf(ctx).account;
    if (!tiers.includes(tier)) {
      throw featureNotAvailable.error(`The ${name} is not part of the ${tier} tier.`);
    }
    await next();
  };
}
