import { toStoredId } from '../../../src/core/ids';
import { TOOLS_PATH } from '../../../src/core/public-origin';
import type { FindAccessTokens } from '../../accounts';
import { grantName, payloadOf, scopesIn, type StateStore } from '../state/store';

/** Finds access tokens for the API, by what is stored of them. */
export function findAccessTokens({ records }: StateStore): FindAccessTokens {
  return async (hashes) => {
    const found = await records.find({}, { _id: { $in: [...hashes] }, kind: 'AccessToken' });
    return found.flatMap((document) => {
      const { _id: hash, userId, grant, createdAt, expiresAt } = document;
      const { scope, aud, extra } = payloadOf(document);
      if (userId === undefined || grant === undefined) return [];
      const { name } = (extra ?? {}) as { name?: string }; // As the configuration adds it.
      return {
        // The consent is what acts, whichever of its tokens it comes with.
        _id: toStoredId(grantName(grant)),
        userId,
        hash,
        name: name ?? '',
        scopes: scopesIn(scope),
        createdAt,
        expiresAt,
        revokedAt: null,
        lastUsedAt: null,
        onlyAt: String(aud).replace(/\/$/, '').endsWith(TOOLS_PATH) ? TOOLS_PATH : undefined,
      };
    });
  };
}
