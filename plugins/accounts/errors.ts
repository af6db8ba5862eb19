import { ErrorCode } from '../../src/core/errors';

export const tokenNotFound = new ErrorCode('token_not_found', 404, 'Token not found.');

export const tokenLimitReached = new ErrorCode(
  'token_limit_reached',
  403,
  'An account may have at most 100 valid tokens.',
);
