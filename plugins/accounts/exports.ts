import type { AccountLists } from './lists';
import type { PersonalData } from './personal-data';
import type { AccountService } from './service';
import type { TokenService } from './tokens/service';

const ACCOUNTS = [
  'accept',
  'account',
  'change',
  'changeAccount',
  'createIn',
  'ensureAccount',
  'isOpen',
  'person',
  'putAccount',
  'tokensChanged',
] as const;
const LISTS = ['accounts', 'accountsAfter', 'lapsed', 'timezones', 'toRemind'] as const;
const TOKENS = [
  'createToken',
  'validTokens',
  'hasTokens',
  'idOf',
  'makeOwn',
  'pruneTokens',
  'revokeAll',
  'revokeOwn',
  'revokeToken',
  'revokeTokensOf',
  'rotateToken',
  'tokens',
] as const;
const DATA = ['close', 'counts', 'deleteUser', 'exportUser', 'keep'] as const;

/** The interface of accounts, their tokens and their data for other plugins and commands. */
export type Accounts = Pick<AccountService, (typeof ACCOUNTS)[number]> &
  Pick<AccountLists, (typeof LISTS)[number]> &
  Pick<TokenService, (typeof TOKENS)[number]> &
  Pick<PersonalData, (typeof DATA)[number]>;

export function exportsOf(
  accounts: AccountService,
  lists: AccountLists,
  tokens: TokenService,
  data: PersonalData,
): Accounts {
  return {
    ...bound(accounts, ACCOUNTS),
    ...bound(lists, LISTS),
    ...bound(tokens, TOKENS),
    ...bound(data, DATA),
  };
}

/** Some methods of an object, bound to it. */
function bound<T extends Record<K, (...args: never[]) => unknown>, K extends string & keyof T>(
  object: T,
  names: readonly K[],
): Pick<T, K> {
  const methods = names.map((name) => [name, object[name].bind(object)] as const);
  // Binding keeps the type of each method.
  return Object.fromEntries(methods) as Pick<T, K>;
}
