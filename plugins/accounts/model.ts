import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/models';
import { TIERS, type Tier } from '../../src/core/identity';
import type { StoredId } from '../../src/core/ids';

export interface AccountDocument {
  /** What operators call the user, and responses `userId`. */
  _id: string;
  tier: Tier;
  timezone: string;
  revision: number;
  usage: Record<string, number>;
  /** Ids of those of its tokens that were revoked: who calls is read here with every request. */
  revokedTokens: string[];
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
      timezone: { type: String, required: true },
      revision: { type: Number, required: true },
      usage: { type: Schema.Types.Mixed, required: true },
      revokedTokens: { type: [String], required: true },
      createdAt: { type: Date, required: true },
      updatedAt: { type: Date, required: true },
    },
    { collection: 'accounts', versionKey: false, minimize: false },
  ),
);

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
      revokedAt: { type: Date, default: null },
      lastUsedAt: { type: Date, default: null },
    },
    { collection: 'tokens', versionKey: false },
  )
    // Finds the holder of a token: every request.
    .index({ hash: 1 }, { unique: true })
    // `token list --user`.
    .index({ userId: 1, createdAt: 1 }),
);
