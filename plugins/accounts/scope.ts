/** What lets a person's own program make tokens, take the data along and delete the account. */
export const ACCOUNT_SCOPE = 'account';
/** What lets a trusted backend make, change and delete accounts, and make tokens for them. */
export const MANAGE_SCOPE = 'accounts:manage';

/** Scopes that a person's token may have. */
export function personalScopes(all: ReadonlyMap<string, string>): string[] {
  return [...all.keys()].filter((scope) => scope !== MANAGE_SCOPE);
}

/** Those that a token has where none are named: what opens the account itself is asked for. */
export function usualScopes(all: ReadonlyMap<string, string>): string[] {
  return personalScopes(all).filter((scope) => scope !== ACCOUNT_SCOPE);
}
