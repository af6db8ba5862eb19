import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';
import { type Account, type Binding, TIERS, type Tier } from '../../src/core/identity';
import { IdType, newId, type StoredId } from '../../src/core/ids';

declare module '../../src/core/identity' {
  interface Account {
    /** The time of day at which the person is reminded, `HH:MM`; null for never. */
    remindAt: string | null;
    /** What the account's garden is called; null until its person names it. */
    gardenName: string | null;
  }
}

export interface AccountDocument {
  /** The name of the user for operators, and `userId` in responses. */
  _id: string;
  tier: Tier;
  /** When the tier becomes free again. */
  tierUntil?: Date | null;
  timezone: string;
  /** Missing until the person sets it, like `remindAt`. */
  language?: string;
  remindAt?: string | null;
  gardenName?: string | null;
  revision: number;
  usage: Record<string, number>;
  /**
   * Changes whenever one of the account's tokens does. Every request reads it, so no process uses an
   * outdated token. Missing in accounts of earlier releases until then.
   */
  tokensVersion?: string;
  /** When its deletion began: tokens are refused, and nothing is written. */
  deletingSince?: Date;
  createdAt: Date;
  updatedAt: Date;
}

export const accountModel = sharedModel<AccountDocument>(
  'Account',
  'accounts own everything else',
  { shardKey: '_id' },
  new Schema(
    {
      _id: { type: String, required: true },
      tier: { type: String, enum: TIERS, required: true },
      tierUntil: { type: Date },
      timezone: { type: String, required: true },
      language: { type: String },
      remindAt: { type: String },
      gardenName: { type: String },
      revision: { type: Number, required: true },
      usage: { type: Schema.Types.Mixed, required: true },
      tokensVersion: { type: String },
      deletingSince: { type: Date },
      createdAt: { type: Date, required: true },
      updatedAt: { type: Date, required: true },
    },
    { collection: 'accounts' },
  )
    // Accounts to remind at a time of day.
    .index({ timezone: 1, remindAt: 1, _id: 1 })
    // Accounts whose tier ends.
    .index({ tierUntil: 1 }, { sparse: true })
    // Accounts that are being deleted.
    .index({ deletingSince: 1 }, { sparse: true }),
);

/** Accounts that are not being deleted. */
export const NOT_DELETED = { deletingSince: { $exists: false } };

/** A new version of an account's tokens. */
export function newTokensVersion(): string {
  return newId().toHexString();
}

export interface TokenDocument {
  _id: StoredId;
  userId: string;
  /** SHA-256 of the token, which itself is not stored. */
  hash: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Id of the token that it was rotated to. */
  replacedBy?: string;
  /** The grant of the app that created it, with which it ends. */
  grant?: string;
  /** The only garden that it opens. */
  garden?: Binding;
}

/** The garden of a {@link Binding}. */
export const BINDING = new Schema(
  { owner: { type: String, required: true }, member: { type: String } },
  { _id: false },
);

export const tokenModel = sharedModel<TokenDocument>(
  'Token',
  'a token is looked up before its account is known',
  { oneShard: 'it is looked up by its hash, its id or its account' },
  new Schema(
    {
      _id: { type: IdType, required: true },
      userId: { type: String, required: true },
      hash: { type: String, required: true },
      name: { type: String, required: true },
      scopes: { type: [String], required: true },
      createdAt: { type: Date, required: true },
      expiresAt: { type: Date, required: true },
      revokedAt: { type: Date },
      lastUsedAt: { type: Date },
      replacedBy: { type: String },
      grant: { type: String },
      garden: { type: BINDING },
    },
    { collection: 'tokens' },
  )
    // Authenticates a request.
    .index({ hash: 1 }, { unique: true })
    // `token list --user`.
    .index({ userId: 1, createdAt: 1 })
    // Tokens that have expired, or soon will.
    .index({ expiresAt: 1 }),
);

/** The tier now: free once it has ended. */
export function tierNow(tier: Tier, until: Date | null | undefined): Tier {
  return until && until <= new Date() ? 'free' : tier;
}

/** The defaults of preferences. */
export const PREFERENCES = { language: 'en', remindAt: '07:00' } as const;

/** The account in a document. */
export function asAccount(document: AccountDocument): Account {
  const { _id: id, tierUntil, timezone, createdAt, revision, usage } = document;
  const { language = PREFERENCES.language, remindAt = PREFERENCES.remindAt } = document;
  const { gardenName = null } = document;
  const tier = tierNow(document.tier, tierUntil);
  return {
    id,
    tier,
    tierUntil: tierUntil ?? undefined,
    timezone,
    language,
    remindAt,
    gardenName,
    createdAt,
    revision,
    usage,
  };
}
