import { ErrorCode, invalidCursor } from '../../src/core/errors';

export const cursorExpired = new ErrorCode(
  'cursor_expired',
  410,
  'This cursor has expired; start again without it.',
);

export const invalidSince = invalidCursor.at(
  400,
  'since is not a nextCursor that this list gave you; start again without it.',
);
