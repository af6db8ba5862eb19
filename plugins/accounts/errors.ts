import { ErrorCode } from '../../src/core/errors';

export const tokenNotFound = new ErrorCode(
  'token_not_found',
  404,
  'There is no token of yours with this id, or it is not good any more.',
);

export const tokenLimitReached = new ErrorCode(
  'token_limit_reached',
  403,
  'You have as many good tokens as an account may have.',
);
