import { ACCOUNT_ID_RULE } from '../../src/core/identity';
import { ErrorCode, validationError } from '../../src/core/errors';

export const accountNotFound = new ErrorCode('account_not_found', 404, 'Account not found.');

/** The error for creating an account whose id no path can name. */
export const invalidAccountId = validationError.at(400, `The id of an account ${ACCOUNT_ID_RULE}.`);
