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
  /** The owner of the only garden that it opens. */
  garden?: string;
}

/** A token as its owner sees it. */
export function asOwn(token: TokenDocument | TokenView): OwnToken {
  const view = 'id' in token ? token : asView(token);
  const { id, name, scopes, createdAt, expiresAt, lastUsedAt, garden } = view;
  return { id, name, scopes, createdAt, expiresAt, lastUsedAt, ...(garden && { garden }) };
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
    ...(document.garden && { garden: document.garden.owner }),
  };
}

/** A token in the audit log. */
export function tokenTarget(id: string): Act['target'] {
  return { type: 'token', id };
}
