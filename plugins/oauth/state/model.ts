import { Schema } from 'mongoose';

import { sharedModel } from '../../../src/data/model/models';

/** What the authorization server keeps: a client, a grant, a token, a session, and so on. */
export interface StateDocument {
  /** SHA-256 of what whoever knows it shows: a token, a code, the id in a cookie. */
  _id: string;
  kind: string;
  /** JSON, without what its id is the hash of. */
  payload: string;
  createdAt: Date;
  /** From when on it is not good any more, whenever it is then deleted. */
  expiresAt: Date;
  userId?: string;
  /** Hash of the id of the grant that it belongs to. */
  grant?: string;
  /** Hash of the other id of a session. */
  uid?: string;
  /** When it was used that may be used once. */
  consumedAt?: Date;
  /** How many calls of a budget were spent. */
  spent?: number;
}

export const stateModel = sharedModel<StateDocument>(
  'OAuthState',
  'most of it is looked up before it is known whose it is',
  new Schema(
    {
      _id: { type: String, required: true },
      kind: { type: String, required: true },
      payload: { type: String, required: true },
      createdAt: { type: Date, required: true },
      expiresAt: { type: Date, required: true },
      userId: { type: String },
      grant: { type: String },
      uid: { type: String },
      consumedAt: { type: Date },
      spent: { type: Number },
    },
    { collection: 'oauthState' },
  )
    .index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
    // All of a person, oldest first, to be shown, exported, ended and deleted.
    .index({ userId: 1, kind: 1, createdAt: 1 })
    // All that one consent let a program have.
    .index({ grant: 1 }, { partialFilterExpression: { grant: { $exists: true } } })
    .index({ uid: 1 }, { partialFilterExpression: { uid: { $exists: true } } })
    // How many programs are registered.
    .index({ kind: 1, expiresAt: 1 }),
);

/** A key on a device of a person, by which they sign in. */
export interface Passkey {
  /** As its device calls it. */
  id: string;
  /** What it is known by: the browser that made it. */
  name: string;
  /** In base64url, as COSE has it. */
  publicKey: string;
  /** How often it was used, where its device counts. */
  counter: number;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface CredentialDocument {
  /** The account. */
  _id: string;
  /** By argon2id, with its salt and costs. */
  passwordHash?: string;
  passkeys?: Passkey[];
  createdAt: Date;
}

export const credentialModel = sharedModel<CredentialDocument>(
  'Credential',
  'it is looked up to learn who somebody is, and no export may hold it',
  new Schema(
    {
      _id: { type: String, required: true },
      passwordHash: { type: String },
      passkeys: { type: [Object], default: undefined },
      createdAt: { type: Date, required: true },
    },
    { collection: 'credentials' },
  )
    // Whose a passkey is that somebody signs in with.
    .index(
      { 'passkeys.id': 1 },
      { unique: true, partialFilterExpression: { 'passkeys.id': { $exists: true } } },
    ),
);
