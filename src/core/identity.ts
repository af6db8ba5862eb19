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
  usage: Usage;
}

/** How many records count against each quota, by its name; without those never counted. */
export type Usage = Readonly<Record<string, number>>;

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
   * Opens a write: in the transaction of `session` moves the account's revision, adds to its usage, and
   * answers the account as it was before. From then on no other transaction can write to the
   * account's data.
   */
  open(session: ClientSession, userId: string, added: Usage): Promise<Account>;

  /** Adds to the account's usage. */
  addUsage(session: ClientSession, userId: string, added: Usage): Promise<void>;

  /** The ids of all accounts, in a fixed order. */
  accountIds(): Promise<string[]>;

  /** Adds to the revisions of all accounts, whose data is no longer what it was. */
  raiseRevisions(by: number): Promise<void>;
}
