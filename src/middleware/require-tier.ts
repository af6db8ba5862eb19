import type { Middleware } from 'koa';

import { featureNotAvailable } from '../core/errors';
import type { Feature } from '../plugins/operation';
import { callerOf } from './state';

/** Lets in accounts whose tier has the feature, else feature_not_available. */
export function requireTier({ name, tiers }: Feature): Middleware {
  return async function requireTier(ctx, next) {
    const { tier } = callerOf(ctx).account;
    if (!tiers.includes(tier)) {
      throw featureNotAvailable.error(`The ${name} is not part of the ${tier} tier.`);
    }
    await next();
  };
}
