/** What lets a person's own program make tokens, take the data along and delete the account. */
export const ACCOUNT_SCOPE = 'account';
