import { idText } from '../../../src/core/ids';
import type { Act } from '../../../src/data/audit/entry';
import type { TokenDocument } from '../model';
import type { OwnToken } from '../schema';

/** A token as operators see it. */
export interface TokenView extends Pick<
  TokenDocument,
  'name' | 'scopes' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'
> {
  id: string;
  user: string;
  /** Id of the token that it was rotated to. */
  replacedBy: string | null;
}

/** A token as its owner sees it. */
export function asOwn(token: TokenDocument | TokenView): OwnToken {
  const { name, scopes, createdAt, expiresAt, lastUsedAt } = token;
  const id = 'id' in token ? token.id : idText(token._id);
  return { id, name, scopes, createdAt, expiresAt, lastUsedAt };
}

/** A token as operators see it. */
export function asView(document: TokenDocument): TokenView {
  const { _id, userId, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } = document;
  return {
    id: idText(_id),
    user: userId,
    name,
    scopes,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
    replacedBy: document.replacedBy ?? null,
  };
}

/** A token in the audit log. */
export function tokenTarget(id: string): Act['target'] {
  return { type: 'token', id };
}
