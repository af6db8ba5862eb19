import { createHash } from 'node:crypto';

import type { ClientSession } from 'mongoose';

import { ApiError, invalidToken } from './errors';

export const TIERS = ['free', 'pro'] as const;
export type Tier = (typeof TIERS)[number];

/** The prefix of the accounts of backends; accounts of people cannot have it. */
const BACKEND_PREFIX = '~';

/** The id of a backend's account, which has no data, and is the actor in the audit log. */
export function backendId(name: string): string {
  return BACKEND_PREFIX + name;
}

export function isBackend(accountId: string): boolean {
  return accountId.startsWith(BACKEND_PREFIX);
}

/** The ids of accounts that backends may use. A path cannot have a segment of only dots. */
export const ACCOUNT_ID = /^(?!\.{1,2}$)[A-Za-z0-9._@|:-]{1,64}$/;

/** Completes a sentence about the id of an account. */
export const ACCOUNT_ID_RULE = 'must be 1 to 64 letters, digits and . _ - @ | :, except . and ..';

export interface Account {
  /** `userId` in responses. */
  id: string;
  tier: Tier;
  /** When the tier ends and becomes free; never if missing. */
  tierUntil?: Date | undefined;
  /** IANA name of the time zone for calendar days. */
  timezone: string;
  /** BCP 47 tag of the language for sorting names. */
  language: string;
  createdAt: Date;
  /** Incremented by every write to the account's data. */
  revision: number;
  usage: Usage;
}

/** The number of records by quota; a quota that was never counted is missing. */
export type Usage = Readonly<Record<string, number>>;

/** The only garden for which a token is valid. */
export interface Binding {
  /** The id of its owner. */
  owner: string;
  /** The member that the holder of the token is there; missing in their own. */
  member?: string;
}

/** A token without its secret. */
export interface HeldToken {
  id: string;
  name: string;
  scopes: readonly string[];
  expiresAt: Date;
  /** The latest expiry of tokens that it creates; none for those of a sign-in. */
  endsBy?: Date | undefined;
  /** The grant of an app with which it ends, and tokens that it creates too. */
  grant?: string | undefined;
  /** All gardens that are open to its holder if missing. */
  garden?: Binding | undefined;
}

/** An authenticated caller. */
export interface Principal {
  account: Account;
  scopes: ReadonlySet<string>;
  token: HeldToken;
  /** The only path for which the token is valid; all paths if missing. */
  onlyAt?: string | undefined;
  /** Whether the person is signed in with a browser: `token` describes the session. */
  isSession?: true;
  /** The garden of another to which the token is bound. */
  garden?: Garden | undefined;
  /**
   * Whether it is somebody without an account who has a link to a garden: `account` is the owner's, under the
   * id of the member, and `token` describes the link.
   */
  isSitter?: true;
}

/** Who did something in the garden of another, as its owner called them then. */
export interface Author {
  /** Missing in what was copied from another account. */
  id?: string;
  name: string;
}

/** The garden of another account, in which a person may act. */
export interface Garden {
  /** Its owner's, as it is now. */
  account: Account;
  by: Required<Author>;
  role: string;
  /** When it ends; null for never. */
  until: Date | null;
  /** The scopes of the role. */
  scopes: ReadonlySet<string>;
  /** The least role with a scope; undefined if only the owner has it. */
  roleWith: (scope: string) => string | undefined;
  /** Records that the person was there. */
  recordUse: () => void;
  /** Returns it as it is now; undefined once it is closed to the person. */
  again: (session?: ClientSession) => Promise<Garden | undefined>;
}

/** The gardens that accounts share, which one plugin may provide. */
export interface Gardens {
  /** Returns the garden of an account if it lets the person in now. */
  find(owner: string, person: string): Promise<Garden | undefined>;
  /** The gardens that a person may open now, their own first. */
  list(own: Account): Promise<NamedGarden[]>;
}

/** A garden that a person may open. */
export interface NamedGarden {
  /** The id of its owner. */
  id: string;
  name: string;
}

export interface CallSource {
  address: string;
  requestId: string;
}

export interface AuthenticationOptions {
  /** Whether to look up tokens that are not cached. */
  lookUp: boolean;
  /** Recorded with the first use of a token. */
  source: CallSource;
}

/**
 * Why a token is invalid: `elsewhere` is for another path, `foreign` for another audience, `closed` for a
 * garden that is no longer open to its holder.
 */
export type TokenFault =
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'early'
  | 'elsewhere'
  | 'foreign'
  | 'closed';

export interface Authenticator {
  /** Returns the holder of a token, or why it is invalid. */
  authenticate(token: string, options: AuthenticationOptions): Promise<Principal | TokenFault>;
  /** Whether a text contains a token, so that it must not be logged. */
  hasToken(text: string): boolean;
}

/** The accounts and tokens, which one plugin provides. */
export interface Identity extends Authenticator {
  /**
   * Reads accounts in the transaction of `session`. Of transactions that open the same account at the same
   * time, only one is committed; the others conflict.
   *
   * @throws ApiError invalid_token if one of the accounts does not exist
   */
  open(session: ClientSession, userIds: readonly string[]): Promise<Account[]>;

  /** Increments the revisions of the opened accounts, and adds to their usage. */
  close(session: ClientSession, added: ReadonlyMap<string, Usage>): Promise<void>;

  /** The ids of all accounts, sorted. */
  accountIds(): Promise<string[]>;

  /** Increments the revisions of all accounts, and returns them. */
  raiseRevisions(by: number): Promise<{ userId: string; revision: number }[]>;
}

/** Whether {@link Identity.open} failed because the account does not exist any more. */
export function isAccountGone(error: unknown): boolean {
  return error instanceof ApiError && error.kind === invalidToken;
}

/** Awaits work on an account, and ignores that it was deleted meanwhile. */
export async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isAccountGone(error)) throw error;
  }
}

/** The token in an Authorization header; the scheme is case-insensitive. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
}

/** The SHA-256 of a secret, to be stored in its place. Only for long random secrets. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
