import { OperatorError } from '../../../src/core/errors';
import { idText } from '../../../src/core/ids';
import type { TokenDocument } from '../model';

/** @throws OperatorError if a token is not valid any more, or was rotated */
export function requireValid(token: TokenDocument, now: Date): void {
  const id = idText(token._id);
  if (token.replacedBy !== undefined) {
    throw new OperatorError(`The token ${id} was rotated before, to ${token.replacedBy}.`);
  }
  if (token.revokedAt !== null) throw new OperatorError(`The token ${id} is revoked.`);
  if (token.expiresAt <= now) throw new OperatorError(`The token ${id} has expired.`);
}

/** The valid tokens of an account. */
export function valid(userId: string, now: Date) {
  return { userId, revokedAt: null, expiresAt: { $gt: now } };
}
