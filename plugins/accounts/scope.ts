/** Lets a person's own app create tokens, export the data and delete the account. */
export const ACCOUNT_SCOPE = 'account';
/** Lets a trusted backend create, change and delete accounts, and create tokens for them. */
export const MANAGE_SCOPE = 'accounts:manage';

/** Scopes that a person's token may have. */
export function personalScopes(all: ReadonlyMap<string, string>): string[] {
  return [...all.keys()].filter((scope) => scope !== MANAGE_SCOPE);
}

/** The default scopes of a token: all personal ones but `account`. */
export function usualScopes(all: ReadonlyMap<string, string>): string[] {
  return personalScopes(all).filter((scope) => scope !== ACCOUNT_SCOPE);
}
