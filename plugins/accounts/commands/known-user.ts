import { CommandError } from '../../../src/cli/exit-codes';
import type { Account } from '../../../src/core/identity';
import type { Accounts } from '../accounts';

/** The account that a command names. @throws CommandError if there is none */
export async function requireUser(
  accounts: Pick<Accounts, 'account'>,
  userId: string,
): Promise<Account> {
  const account = await accounts.account(userId);
  if (!account) throw unknownUser(userId);
  return account;
}

/** The error for a user without an account. */
export function unknownUser(userId: string): CommandError {
  return new CommandError(`There is no user ${userId}.`);
}
