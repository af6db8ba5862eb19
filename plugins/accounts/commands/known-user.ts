import { OperatorError } from '../../../src/core/errors';
import type { Account } from '../../../src/core/identity';
import type { Accounts } from '../accounts';

/** The account that a command names. @throws OperatorError if there is none */
export async function requireUser(
  accounts: Pick<Accounts, 'account'>,
  userId: string,
): Promise<Account> {
  const account = await accounts.account(userId);
  if (!account) throw unknownUser(userId);
  return account;
}

/** The error for a user without an account. */
export function unknownUser(userId: string): OperatorError {
  return new OperatorError(`There is no user ${userId}.`);
}
