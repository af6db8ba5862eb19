import type { Adapter, AdapterPayload, errors } from 'oidc-provider';

import { DAY_MS } from '../../../src/core/time';
import { isRecord } from '../../../src/core/values';
import { hashOf } from '../../../src/core/identity';
import type { StateDocument } from './model';
import { KINDS_OF_GRANT, payloadOf, type StateStore } from './store';

/** How long a refresh whose response was lost may be repeated, unless its new token was used. */
const GRACE_MS = 30_000;
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
  readonly #InvalidGrant: typeof errors.InvalidGrant;

  constructor(kind: string, store: StateStore, InvalidGrant: typeof errors.InvalidGrant) {
    this.#kind = kind;
    this.#store = store;
    this.#InvalidGrant = InvalidGrant;
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
    await this.#store.host.transactShared(async (tx) => {
      await this.#extend(tx.session, hashOf(grantId ?? ''), hashOf(clientId ?? ''));
      await this.#store.put(tx, id, document);
    });
  }

  /** Updates a session. It inserts none: a request that has read a session must not restore it after its end. */
  async #renew(id: string, document: Omit<StateDocument, '_id' | 'createdAt'>): Promise<void> {
    const there = { _id: hashOf(id), kind: this.#kind };
    await this.#store.documents.updateOne(there, { $set: document });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const found = await this.#store.find(this.#kind, id);
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

  /** Marks a code or token as used. A code that is used twice at once revokes its grant. */
  async consume(id: string): Promise<void> {
    const { documents } = this.#store;
    const _id = hashOf(id);
    const kind = this.#kind;
    const now = Date.now();
    const unused = { _id, kind, consumedAt: { $exists: false } };
    const $set = { consumedAt: new Date(now) };
    const consumed = await documents.findOneAndUpdate(unused, { $set }).lean();
    if (kind === 'RefreshToken') {
      if (consumed?.grant !== undefined) await this.#endGrace(consumed.grant, _id, now);
      return;
    }
    if (consumed || kind !== 'AuthorizationCode') return;
    const used = await this.#store.find(kind, id);
    if (used?.grant !== undefined) await this.#store.endGrant(used.grant);
    throw new this.#InvalidGrant('authorization code already consumed');
  }

  /** A client that uses a refresh token has received the previous response, and must not repeat that refresh. */
  async #endGrace(grant: string, used: string, now: number): Promise<void> {
    const ended = new Date(now - GRACE_MS - 1);
    const earlier = { grant, kind: this.#kind, _id: { $ne: used }, consumedAt: { $gt: ended } };
    await this.#store.documents.updateMany(earlier, { $set: { consumedAt: ended } });
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
  async #extend(session: StateSession, grant: string, client: string): Promise<void> {
    const { documents } = this.#store;
    const expiresAt = new Date(Date.now() + GRANT_MS);
    const extended = await documents.updateOne(
      { _id: grant, kind: 'Grant', expiresAt: { $gt: new Date() } },
      this.#kind === 'AuthorizationCode' ? { $inc: { spent: 1 } } : { $set: { expiresAt } },
      { session },
    );
    if (extended.matchedCount === 0) throw new this.#InvalidGrant('grant not found');
    const clientUntil = new Date(expiresAt.getTime() + CLIENT_MS);
    const $max = { expiresAt: clientUntil };
    await documents.updateOne({ _id: client, kind: 'Client' }, { $max }, { session });
  }

  #payload(found: StateDocument): AdapterPayload {
    const { consumedAt } = found;
    const isLate = consumedAt !== undefined && Date.now() - consumedAt.getTime() > GRACE_MS;
    const isConsumed = this.#kind === 'RefreshToken' ? isLate : consumedAt !== undefined;
    const consumed = isConsumed && consumedAt ? Math.floor(consumedAt.getTime() / 1000) : undefined;
    return { ...payloadOf(found), ...(consumed === undefined ? {} : { consumed }) };
  }
}

type StateSession = NonNullable<Parameters<StateStore['put']>[0]['session']>;

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
