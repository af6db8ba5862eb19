import { ErrorCode, recordNotFound } from '../../src/core/errors';

/** How many members and open invitations a garden may have. */
export const MAX_MEMBERS = 50;
/** How many gardens of others a person may be a member of. */
export const MAX_GARDENS = 20;

export const memberNotFound = recordNotFound('member', 'The person must look for it in the list.');

export const invitationNotFound = new ErrorCode(
  'invitation_not_found',
  404,
  'There is no such invitation; it may have been used or withdrawn, or have ended.',
);

export const memberLimitReached = new ErrorCode(
  'member_limit_reached',
  403,
  `A garden may have at most ${MAX_MEMBERS} members, and a person be a member of at most ${MAX_GARDENS} gardens.`,
);
