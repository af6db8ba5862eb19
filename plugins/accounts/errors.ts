import { ErrorCode, OperatorError } from '../../src/core/errors';

export const tokenNotFound = new ErrorCode('token_not_found', 404, 'Token not found.');

/** How many valid tokens an account may have. */
export const MAX_TOKENS = 100;

export const tokenLimitReached = new ErrorCode(
  'token_limit_reached',
  403,
  `An account may have at most ${MAX_TOKENS} valid tokens.`,
);

/** The error for a user of a command who has no account. */
export function unknownUser(userId: string): OperatorError {
  return new OperatorError(`There is no user ${userId}.`);
}
