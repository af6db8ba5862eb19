import { OperatorError } from '../../../src/core/errors';
import { csvOf } from '../../../src/core/text/csv';
import { chunksOf, reasonOf } from '../../../src/core/values';
import type { ProgressBar, StreamedResult } from '../../../src/plugins/command';
import type { Accounts } from '../accounts';
import type { ListedUser } from './user-list';

/** How many are created at once: writes that wait share a transaction. */
const AT_ONCE = 64;

type Wanted = Omit<Parameters<Accounts['tokens']['createToken']>[0], 'userId' | 'tier'>;
type Made = Awaited<ReturnType<Accounts['tokens']['createToken']>>;

/** Creates a token for each user and prints them, as CSV or as one line of JSON. */
export function makeMany(
  accounts: Accounts,
  users: readonly ListedUser[],
  wanted: Wanted,
  bar: ProgressBar,
): StreamedResult['pieces'] {
  return async function* (isJson) {
    let separator = isJson ? '[' : 'name,tier,token\n';
    try {
      for await (const made of eachMade(accounts, users, wanted)) {
        yield separator + (isJson ? JSON.stringify(resultOf(made)) : lineOf(made));
        separator = isJson ? ',' : '\n';
        bar.advance(1);
      }
    } finally {
      bar.stop();
    }
    if (isJson) yield ']';
  };
}

/** In the order of the list. Tokens that were created are printed even if others fail. */
async function* eachMade(
  accounts: Accounts,
  users: readonly ListedUser[],
  wanted: Wanted,
): AsyncGenerator<Made> {
  for (const chunk of chunksOf(users, AT_ONCE)) {
    // Without it each account is created on its own, and what is wrong is reported for that one.
    await accounts.createMissing(chunk).catch(() => undefined);
    const tried = await Promise.allSettled(
      chunk.map((user) => accounts.tokens.createToken({ ...wanted, ...user })),
    );
    for (const each of tried) if (each.status === 'fulfilled') yield each.value;
    for (const [index, each] of tried.entries()) {
      if (each.status === 'fulfilled') continue;
      throw new OperatorError(
        `No token was created for ${chunk[index]?.userId} or any other user that is not printed: ${reasonOf(each.reason)}`,
      );
    }
  }
}

/** The result of `token create`, with the token itself. */
export function resultOf({ token, view: { id, user, scopes, expiresAt }, tier }: Made) {
  return { id, token, user, tier, scopes, expiresAt };
}

function lineOf({ token, view: { user }, tier }: Made): string {
  return csvOf([[user, tier, token]], { eof: false });
}
