import type { ClientSession } from 'mongoose';
import type { Adapter, AdapterPayload } from 'oidc-provider';

import { DAY_MS } from '../../../src/core/time';
import { isRecord } from '../../../src/core/values';
import { hashOf } from '../../../src/core/identity';
import type { Library } from '../server/library';
import type { StateDocument } from './model';
import { RefreshTokens } from './refresh-tokens';
import { KINDS_OF_GRANT, payloadOf, type StateStore } from './store';

/** How long an unused grant lives: slightly longer than its refresh token. */
const GRANT_MS = 91 * DAY_MS;
/** How long a grant lives until it has a token. */
const NEW_GRANT_MS = 60 * 60 * 1000;
/** How long a client stays registered without a grant. */
const CLIENT_MS = 30 * DAY_MS;

/** Stores one of the library's models. */
export class StoredModel implements Adapter {
  readonly #kind: string;
  readonly #store: StateStore;
  readonly #refreshTokens: RefreshTokens;
  readonly #library: Library;

  constructor(kind: string, store: StateStore, library: Library) {
    this.#kind = kind;
    this.#store = store;
    this.#refreshTokens = new RefreshTokens(store);
    this.#library = library;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { grantId, clientId, uid, accountId, session, result } = payload;
    const kind = this.#kind;
    const lifetimeMs = { Client: CLIENT_MS, Grant: NEW_GRANT_MS }[kind] ?? (expiresIn ?? 0) * 1000;
    const userId = accountId ?? session?.accountId ?? result?.login?.accountId;
    const document = {
      kind,
      payload: JSON.stringify(withoutSecrets(payload)),
      expiresAt: new Date(Date.now() + lifetimeMs),
      ...(userId === undefined ? {} : { userId }),
      ...(grantId === undefined ? {} : { grant: hashOf(grantId) }),
      ...(kind === 'Session' && uid !== undefined ? { uid: hashOf(uid) } : {}),
    };
    if (kind === 'Session') return this.#renew(id, document);
    if (!KINDS_OF_GRANT.includes(kind)) return this.#store.put({}, id, document);
    // In one transaction, so that a grant that ends meanwhile issues nothing.
    const grant = hashOf(grantId ?? '');
    const from = this.#refreshed();
    const isIssued = await this.#store.host.transactShared(async (tx) => {
      await this.#extend(tx.session, grant, hashOf(clientId ?? ''));
      if (from !== undefined && !(await this.#mayIssue(tx.session, from))) return false;
      await this.#store.put(tx, id, from === undefined ? document : { ...document, from });
      return true;
    });
    if (isIssued) return;
    await this.#store.endGrant(grant);
    throw this.#invalidGrant('refresh token already used');
  }

  /** The hash of the refresh token for which a token is issued; undefined if it is issued for a code. */
  #refreshed(): string | undefined {
    const entities = this.#library.Provider.ctx?.oidc.entities;
    const used = entities?.RotatedRefreshToken;
    // An access token ends with the refresh token that is issued beside it.
    const from = this.#kind === 'AccessToken' ? entities?.RefreshToken : used;
    return used && from && hashOf(from.jti);
  }

  /** Uses the refresh token for which another is issued; returns whether it is still good. */
  async #mayIssue(session: ClientSession, from: string): Promise<boolean> {
    if (this.#kind === 'RefreshToken') return this.#refreshTokens.use(session, from);
    return (await this.#store.documents.exists({ _id: from }).session(session)) !== null;
  }

  #invalidGrant(why: string): Error {
    return new this.#library.errors.InvalidGrant(why);
  }

  /** Updates a session. It inserts none: a request that has read a session must not restore it after its end. */
  async #renew(id: string, document: Omit<StateDocument, '_id' | 'createdAt'>): Promise<void> {
    const there = { _id: hashOf(id), kind: this.#kind };
    await this.#store.documents.updateOne(there, { $set: document });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await (this.#kind === 'RefreshToken'
      ? this.#refreshTokens.find(id)
      : this.#store.find(this.#kind, id));
    return found && { ...this.#payload(found), ...(this.#kind === 'Client' ? {} : { jti: id }) };
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const { documents } = this.#store;
    const found = await documents.findOne({ uid: hashOf(uid), kind: this.#kind }).lean();
    return found && found.expiresAt > new Date() ? this.#payload(found) : undefined;
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  /**
   * Marks a code as used; one that is used twice at once revokes its grant. A refresh token is used when its
   * successor is stored.
   */
  async consume(id: string): Promise<void> {
    if (this.#kind === 'RefreshToken') return this.#refreshTokens.spend(id);
    const { documents } = this.#store;
    const _id = hashOf(id);
    const kind = this.#kind;
    const unused = { _id, kind, consumedAt: { $exists: false } };
    const $set = { consumedAt: new Date() };
    const consumed = await documents.findOneAndUpdate(unused, { $set }).lean();
    if (consumed || kind !== 'AuthorizationCode') return;
    const used = await this.#store.find(kind, id);
    if (used?.grant !== undefined) await this.#store.endGrant(used.grant);
    throw this.#invalidGrant('authorization code already consumed');
  }

  async destroy(id: string): Promise<void> {
    if (this.#kind === 'Grant') return this.#store.endGrant(hashOf(id));
    await this.#delete({ _id: hashOf(id) });
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#delete({ grant: hashOf(grantId) });
  }

  async #delete(filter: { _id: string } | { grant: string }): Promise<void> {
    const kind = this.#kind;
    const { documents, accounts, host } = this.#store;
    await host.transactShared(async ({ session }) => {
      const found = await documents
        .findOne({ ...filter, kind })
        .session(session)
        .lean();
      await documents.deleteMany({ ...filter, kind }, { session });
      if (kind !== 'AccessToken' || found?.userId === undefined) return;
      await accounts.tokensChanged(session, found.userId);
    });
  }

  /** Extends a grant, and the registration of its client. */
  async #extend(session: ClientSession, grant: string, client: string): Promise<void> {
    const { documents } = this.#store;
    const expiresAt = new Date(Date.now() + GRANT_MS);
    const extended = documents.findOneAndUpdate(
      { _id: grant, kind: 'Grant', expiresAt: { $gt: new Date() } },
      this.#kind === 'AuthorizationCode' ? { $inc: { spent: 1 } } : { $set: { expiresAt } },
      { session },
    );
    const found = await extended.lean();
    if (!found || !(await this.#store.isOpen(found))) throw this.#invalidGrant('grant not found');
    const clientUntil = new Date(expiresAt.getTime() + CLIENT_MS);
    const $max = { expiresAt: clientUntil };
    await documents.updateOne({ _id: client, kind: 'Client' }, { $max }, { session });
  }

  #payload(found: StateDocument): AdapterPayload {
    const { consumedAt } = found;
    const isConsumed = this.#kind !== 'RefreshToken' && consumedAt !== undefined;
    const consumed = isConsumed ? { consumed: Math.floor(consumedAt.getTime() / 1000) } : {};
    return { ...payloadOf(found), ...consumed };
  }
}

/**
 * A payload without secrets, which are its own id and that of its session, and without what a session
 * collects of every client that it authorizes, which only logout needs.
 */
function withoutSecrets(whole: Record<string, unknown>): object {
  const { jti: _id, consumed: _used, authorizations: _clients, ...payload } = whole;
  const { session } = payload;
  if (!isRecord(session)) return payload;
  const { cookie: _cookie, ...rest } = session;
  return { ...payload, session: rest };
}
