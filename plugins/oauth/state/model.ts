import { Schema } from 'mongoose';

import type { Binding } from '../../../src/core/identity';
import { sharedModel } from '../../../src/data/model/models';

/** A client, grant, token, session or other state of the authorization server. */
export interface StateDocument {
  /** SHA-256 of the token, code or id that is presented. */
  _id: string;
  kind: string;
  /** JSON, without the secret whose hash is the id. */
  payload: string;
  createdAt: Date;
  /** When it stops being valid; MongoDB deletes it later. */
  expiresAt: Date;
  userId?: string;
  /** Hash of the id of its grant. */
  grant?: string;
  /** Hash of the refresh token for which a token was issued. */
  from?: string;
  /** Hash of the id of a session that does not change when a person signs in again. */
  uid?: string;
  /** When it was used, if it can be used once only. */
  consumedAt?: Date;
  /** How much of a budget was spent. */
  spent?: number;
  /** Of a grant: the only garden that its app may open. */
  garden?: Binding;
}

export const stateModel = sharedModel<StateDocument>(
  'OAuthState',
  'most of it is looked up before its account is known',
  { oneShard: 'a request looks it up by id, grant, uid or account' },
  new Schema(
    {
      _id: { type: String, required: true },
      kind: { type: String, required: true },
      payload: { type: String, required: true },
      createdAt: { type: Date, required: true },
      expiresAt: { type: Date, required: true },
      userId: { type: String },
      grant: { type: String },
      from: { type: String },
      uid: { type: String },
      consumedAt: { type: Date },
      spent: { type: Number },
      garden: { type: Object },
    },
    { collection: 'oauthState' },
  )
    .index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
    // The state of an account, oldest first, to show, export, end and delete.
    .index({ userId: 1, kind: 1, createdAt: 1 })
    // The tokens of a grant.
    .index({ grant: 1 }, { partialFilterExpression: { grant: { $exists: true } } })
    .index({ uid: 1 }, { partialFilterExpression: { uid: { $exists: true } } })
    // How many clients are registered.
    .index({ kind: 1, expiresAt: 1 }),
);

/** A passkey of a person. */
export interface Passkey {
  /** The credential id, in base64url. */
  id: string;
  /** The browser that created it. */
  name: string;
  /** COSE key in base64url. */
  publicKey: string;
  /** The signature counter, if the device counts. */
  counter: number;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface CredentialDocument {
  /** The account id. */
  _id: string;
  /** From argon2id, with salt and parameters. */
  passwordHash?: string;
  passkeys?: Passkey[];
  createdAt: Date;
}

export const credentialModel = sharedModel<CredentialDocument>(
  'Credential',
  'it is looked up before the account is known, and must not be exported',
  { oneShard: 'it is looked up by its account or a passkey, and both are unique' },
  new Schema(
    {
      _id: { type: String, required: true },
      passwordHash: { type: String },
      passkeys: { type: [Object], default: undefined },
      createdAt: { type: Date, required: true },
    },
    { collection: 'credentials' },
  )
    // Finds the account of a passkey.
    .index(
      { 'passkeys.id': 1 },
      { unique: true, partialFilterExpression: { 'passkeys.id': { $exists: true } } },
    ),
);
