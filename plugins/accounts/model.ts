import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';
import { type Account, TIERS, type Tier } from '../../src/core/identity';
import { newId, type StoredId } from '../../src/core/ids';

export interface AccountDocument {
  /** What operators call the user, and responses `userId`. */
  _id: string;
  tier: Tier;
  /** When the tier is free again. */
  tierUntil?: Date | null;
  timezone: string;
  /** Missing until its person sets it, as is the time of reminders. */
  language?: string;
  remindAt?: string | null;
  revision: number;
  usage: Record<string, number>;
  /**
   * Another whenever what is stored of one of its tokens changes: who calls is read here with every
   * request. Missing in accounts of earlier versions until then.
   */
  tokensVersion?: string;
  /** Since when it is being deleted: nobody gets in, and nothing is written any more. */
  deletingSince?: Date;
  createdAt: Date;
  updatedAt: Date;
}

export const accountModel = sharedModel<AccountDocument>(
  'Account',
  'an account is what everything else belongs to',
  new Schema(
    {
      _id: { type: String, required: true },
      tier: { type: String, enum: TIERS, required: true },
      tierUntil: { type: Date },
      timezone: { type: String, required: true },
      language: { type: String },
      remindAt: { type: String },
      revision: { type: Number, required: true },
      usage: { type: Schema.Types.Mixed, required: true },
      tokensVersion: { type: String },
      deletingSince: { type: Date },
      createdAt: { type: Date, required: true },
      updatedAt: { type: Date, required: true },
    },
    { collection: 'accounts' },
  )
    // Those whose people are told of due care at a time of day.
    .index({ timezone: 1, remindAt: 1, _id: 1 })
    // Those whose tier has ended, or will.
    .index({ tierUntil: 1 }, { sparse: true })
    // Those that are being deleted: few, if any.
    .index({ deletingSince: 1 }, { sparse: true }),
);

/** A version of an account's tokens that there never was. */
export function newTokensVersion(): string {
  return newId().toHexString();
}

export interface TokenDocument {
  _id: StoredId;
  userId: string;
  /** SHA-256 of the token; the token itself is nowhere. */
  hash: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Id of the token that it was rotated to. */
  replacedBy?: string;
}

export const tokenModel = sharedModel<TokenDocument>(
  'Token',
  'a token is looked up before it is known whose it is',
  new Schema(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      hash: { type: String, required: true },
      name: { type: String, required: true },
      scopes: { type: [String], required: true },
      createdAt: { type: Date, required: true },
      expiresAt: { type: Date, required: true },
      revokedAt: { type: Date },
      lastUsedAt: { type: Date },
      replacedBy: { type: String },
    },
    { collection: 'tokens' },
  )
    // Finds the holder of a token: every request.
    .index({ hash: 1 }, { unique: true })
    // `token list --user`.
    .index({ userId: 1, createdAt: 1 })
    // Those that have expired, or do soon.
    .index({ expiresAt: 1 }),
);

/** A tier as it is now: free once it is over. */
export function tierNow(tier: Tier, until: Date | null | undefined): Tier {
  return until && until.getTime() <= Date.now() ? 'free' : tier;
}

/** What an account has where its person has set nothing. */
export const PREFERENCES = { language: 'en', remindAt: '07:00' } as const;

/** An account as the host has it. */
export function asAccount(document: AccountDocument): Account {
  const { _id: id, tierUntil, timezone, createdAt, revision, usage } = document;
  const { language = PREFERENCES.language, remindAt = PREFERENCES.remindAt } = document;
  const tier = tierNow(document.tier, tierUntil);
  return {
    ...{ id, tier, tierUntil: tierUntil ?? undefined, timezone, language, remindAt },
    ...{ createdAt, revision, usage },
  };
}
