import { CommandError } from '../../../src/cli/errors';
import { chunksOf, reasonOf } from '../../../src/core/values';
import type { StreamedResult } from '../../../src/plugins/command';
import type { Accounts } from '../exports';
import type { ListedUser } from './user-list';

/** How many are made at once: writes that wait share a transaction. */
const AT_ONCE = 64;

type Wanted = Omit<Parameters<Accounts['createToken']>[0], 'userId' | 'tier'>;
type Made = Awaited<ReturnType<Accounts['createToken']>>;

/** Makes a token for each user and prints it: as CSV, or as one line of JSON. */
export function makeMany(
  accounts: Accounts,
  users: readonly ListedUser[],
  wanted: Wanted,
): StreamedResult['pieces'] {
  return async function* (isJson) {
    let separator = isJson ? '[' : 'name,tier,token\n';
    for await (const made of eachMade(accounts, users, wanted)) {
      yield separator + (isJson ? JSON.stringify(resultOf(made)) : csvOf(made));
      separator = isJson ? ',' : '\n';
    }
    if (isJson) yield ']';
  };
}

/** In the order of the list. Those of which a token was made are shown it, whatever fails beside. */
async function* eachMade(
  accounts: Accounts,
  users: readonly ListedUser[],
  wanted: Wanted,
): AsyncGenerator<Made> {
  for (const chunk of chunksOf(users, AT_ONCE)) {
    const tried = await Promise.allSettled(
      chunk.map((user) => accounts.createToken({ ...wanted, ...user })),
    );
    for (const each of tried) if (each.status === 'fulfilled') yield each.value;
    for (const [index, each] of tried.entries()) {
      if (each.status === 'fulfilled') continue;
      throw new CommandError(
        `No token was made for ${chunk[index]?.userId}, nor for who is not printed: ${reasonOf(each.reason)}`,
      );
    }
  }
}

/** What `token create` answers of a token: all that programs need of it, this once. */
export function resultOf({ token, view: { id, user, scopes, expiresAt }, tier }: Made) {
  return { id, token, user, tier, scopes, expiresAt };
}

function csvOf({ token, view: { user }, tier }: Made): string {
  const name = /[",]/.test(user) ? `"${user.replaceAll('"', '""')}"` : user;
  return [name, tier, token].join(',');
}
