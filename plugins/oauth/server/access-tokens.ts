import { BatchLookup } from '../../../src/core/batch-lookup';
import type { Binding } from '../../../src/core/identity';
import { toStoredId } from '../../../src/core/ids';
import { isAccessToken, type TokenKind } from '../../accounts';
import { TOOLS_PATH } from '../../mcp';
import { publicId, payloadOf, scopesIn, type StateStore } from '../state/store';

/** Access tokens of the program's own authorization server, looked up by their hashes. */
export function accessTokens(store: StateStore): TokenKind {
  const { documents } = store;
  const lookup = new BatchLookup(async (hashes) => {
    const filter = { _id: { $in: [...hashes] }, kind: 'AccessToken' };
    const found = await documents.find(filter).lean();
    const tokens = found.flatMap((document) => {
      const { _id: hash, userId, grant, createdAt, expiresAt } = document;
      const { scope, aud, extra } = payloadOf(document);
      if (userId === undefined || grant === undefined) return [];
      // Set by `extraTokenClaims`.
      const { name, garden } = (extra ?? {}) as { name?: string; garden?: Binding };
      return {
        // Identifies the grant, whichever of its tokens is used.
        _id: toStoredId(publicId(grant)),
        userId,
        grant,
        ...(garden && { garden }),
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
    return new Map(tokens.map((token) => [token.hash, token]));
  });
  return {
    isOne: isAccessToken,
    find: (_token, hash) => lookup.get(hash),
    grantEnd: (grant, session) => store.grantEnd(grant, session),
    revokeAll: (tx) => store.revokeApps(tx),
  };
}
