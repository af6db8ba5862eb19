import { featureNotAvailable, insufficientScope } from '../core/errors';
import type { Principal } from '../core/identity';
import type { Operation } from '../plugins/operation';

/**
 * The scope, and the features of the tier (docs/specification.md, 5).
 *
 * @throws ApiError insufficient_scope, feature_not_available
 */
export function authorize({ access, feature }: Operation, principal: Principal): void {
  if ('scope' in access && !principal.scopes.has(access.scope)) {
    throw insufficientScope.error(`The token lacks the scope ${access.scope}.`, {
      headers: {
        'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${access.scope}"`,
      },
    });
  }
  if (feature && !feature.tiers.includes(principal.account.tier)) {
    throw featureNotAvailable.error(
      `The ${feature.name} is not part of the ${principal.account.tier} tier.`,
    );
  }
}
