import type { ClientSession } from 'mongoose';

export const TIERS = ['free', 'pro'] as const;
export type Tier = (typeof TIERS)[number];

/** Whose data a call works on. */
export interface Account {
  /** What responses call `userId`. */
  id: string;
  tier: Tier;
  /** IANA name; calendar days are reckoned in it. */
  timezone: string;
  createdAt: Date;
  /** Moves with every write to the account's data. */
  revision: number;
  /** How many records count against each quota. */
  usage: Readonly<Record<string, number>>;
}

/** Who calls, and with what rights. */
export interface Principal {
  account: Account;
  scopes: ReadonlySet<string>;
}

/** Knows who holds a token. */
export interface Authenticator {
  /**
   * The holder of a token; undefined when it is malformed, unknown, revoked or expired.
   *
   * @param options.lookUp whether one that this process does not know is looked up
   */
  authenticate(token: string, options: { lookUp: boolean }): Promise<Principal | undefined>;
}

/** What the host asks of the one plugin that keeps accounts and tokens. */
export interface Identity extends Authenticator {
  /**
   * Opens a write: moves the account's revision in the transaction of `session` and answers the
   * account as it is there. From then on no other transaction can write to the account's data.
   */
  open(session: ClientSession, userId: string): Promise<Account>;

  /** Adds `by` to what counts against a quota. */
  addUsage(session: ClientSession, userId: string, quota: string, by: number): Promise<void>;

  /** The ids of all accounts, in a fixed order. */
  accountIds(): Promise<string[]>;
}
