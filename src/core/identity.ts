import type { ClientSession } from 'mongoose';

import { ApiError, invalidToken } from './errors';

export const TIERS = ['free', 'pro'] as const;
export type Tier = (typeof TIERS)[number];

/** What every token begins with (docs/api.md, "Accounts, tiers, tokens"). */
export const TOKEN_PREFIX = 'tnd_mcp_';

/** What the access tokens begin with that programs get when a person signs in to them. */
export const ACCESS_TOKEN_PREFIX = 'tnd_oat_';

/** Whether a token is shaped like an access token of the program's own authorization server. */
export function isAccessToken(token: string): boolean {
  return /^tnd_oat_[\w-]{43}$/.test(token);
}

/** Whether a token is shaped like a JWT, signed or encrypted. */
export function isJwt(token: string): boolean {
  return /^ey[\w-]*(?:\.[\w-]*){2,4}$/.test(token);
}

/** What the id of a backend's account begins with; no id that a backend may name does. */
const BACKEND_PREFIX = '~';

/** The account of a backend: it has no data, and tells who acts for others. */
export function backendId(name: string): string {
  return BACKEND_PREFIX + name;
}

export function isBackend(accountId: string): boolean {
  return accountId.startsWith(BACKEND_PREFIX);
}

/** The ids of accounts that backends may name. No path can have a segment of dots alone. */
export const ACCOUNT_ID = /^(?!\.{1,2}$)[A-Za-z0-9._@|:-]{1,64}$/;

/** What an account's id must be, to complete a sentence. */
export const ACCOUNT_ID_RULE = 'must be 1 to 64 of letters, digits and . _ - @ | :';

/** Whose data a call works on. */
export interface Account {
  /** What responses call `userId`. */
  id: string;
  tier: Tier;
  /** When the tier is free again; it is for good without it. */
  tierUntil?: Date | undefined;
  /** IANA name; calendar days are reckoned in it. */
  timezone: string;
  /** BCP 47; names are sorted as its people expect. */
  language: string;
  /** The time of day, `HH:MM`, at which the person is reminded; null for never. */
  remindAt: string | null;
  createdAt: Date;
  /** Moves with every write to the account's data. */
  revision: number;
  usage: Usage;
}

/** How many records count against each quota, by its name; without those never counted. */
export type Usage = Readonly<Record<string, number>>;

/** A token as its holder may see it: the secret itself is nowhere. */
export interface HeldToken {
  id: string;
  name: string;
  scopes: readonly string[];
  expiresAt: Date;
  /** When tokens that it makes end at the latest; those of a sign-in outlive it. */
  endsBy?: Date | undefined;
}

/** Who calls, and with what rights. */
export interface Principal {
  account: Account;
  scopes: ReadonlySet<string>;
  /** The token that the call came with. */
  token: HeldToken;
  /** The one path that the token opens; all where left out. */
  onlyAt?: string | undefined;
}

/** Where a call came from. */
export interface CallSource {
  /** The client's address. */
  address: string;
  requestId: string;
}

export interface AuthenticationOptions {
  /** Whether a token that this process does not know is looked up. */
  lookUp: boolean;
  /** What the first use of a token is recorded with. */
  source: CallSource;
}

/**
 * Why a token is not good: one that is malformed is unknown, one for another path is elsewhere's, one
 * for another audience is foreign.
 */
export type TokenFault = 'unknown' | 'revoked' | 'expired' | 'early' | 'elsewhere' | 'foreign';

/** Knows who holds a token. */
export interface Authenticator {
  /** The holder of a token, or why it lets nobody in. */
  authenticate(token: string, options: AuthenticationOptions): Promise<Principal | TokenFault>;
}

/** What the host asks of the one plugin that keeps accounts and tokens. */
export interface Identity extends Authenticator {
  /**
   * Opens writes: moves the revisions of accounts in the transaction of `session`, and returns the
   * accounts as they were before. From then on no other transaction can write to their data.
   *
   * @throws ApiError invalid_token where one of the accounts is gone
   */
  open(session: ClientSession, userIds: readonly string[]): Promise<Account[]>;

  /** Adds to the account's usage. */
  addUsage(session: ClientSession, userId: string, added: Usage): Promise<void>;

  /** The ids of all accounts, in a fixed order. */
  accountIds(): Promise<string[]>;

  /** Adds to the revisions of all accounts, whose data is no longer what it was; answers them then. */
  raiseRevisions(by: number): Promise<{ userId: string; revision: number }[]>;
}

/** Whether {@link Identity.open} found no account, as where it was deleted meanwhile. */
export function isAccountGone(error: unknown): boolean {
  return error instanceof ApiError && error.kind === invalidToken;
}

/** Waits for work on an account; that there is none any more is no failure of it. */
export async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isAccountGone(error)) throw error;
  }
}

/** The token of a header `Authorization: Bearer`; the scheme's case does not matter. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
}
