import type { ClientSession } from 'mongoose';

import { rateLimited } from '../../../src/core/errors';
import { hashOf } from '../../../src/core/identity';
import { DAY_MS } from '../../../src/core/time';
import type { StateDocument } from './model';
import type { StateStore } from './store';

/** How long a refresh whose response was lost may be repeated, unless its new token was used. */
const GRACE_MS = 30_000;
/** How long a used token is stored. A later one is recognized by the grant that it names. */
const USED_MS = 14 * DAY_MS;
/** How many refreshes a grant has, repeats included. */
const REFRESHES = { most: 30, seconds: 600 };

const KIND = 'RefreshToken';

/** The refresh token of a random id and its grant, which is known to nobody else. */
export function refreshTokenOf(id: string, grantId: string): string {
  return `${id}.${grantId}`;
}

/**
 * Refresh tokens, of which each works once. A response may be lost, so a token may be used again for a
 * while, and then has several successors. The first of them that is used ends the others.
 */
export class RefreshTokens {
  readonly #store: StateStore;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** The document of a token that may be used. Any other that was issued once ends its grant. */
  async find(token: string): Promise<StateDocument | undefined> {
    const _id = hashOf(token);
    const found = await this.#store.documents.findOne({ _id, kind: KIND }).lean();
    if (found && isUsable(found)) return found;
    // Nobody has used it in time.
    if (found && found.consumedAt === undefined) return undefined;
    const [, grantId = ''] = token.split('.');
    const grant = found?.grant ?? hashOf(grantId);
    if (await this.#store.documents.exists({ _id: grant, kind: 'Grant' })) {
      await this.#store.endGrant(grant);
    }
    return undefined;
  }

  /**
   * Spends a refresh of the grant of a token.
   *
   * @throws ApiError rate_limited
   */
  async spend(token: string): Promise<void> {
    const found = await this.#store.documents.findOne({ _id: hashOf(token), kind: KIND }).lean();
    if (await this.#store.spend(`refresh ${found?.grant}`, REFRESHES)) return;
    const headers = { 'Retry-After': String(REFRESHES.seconds) };
    throw rateLimited.error('This app has refreshed its tokens too often.', { headers });
  }

  /**
   * Uses a token, in the transaction that inserts its successor and changes its grant.
   *
   * @param _id its hash
   * @returns whether it may be used
   */
  async use(session: ClientSession, _id: string): Promise<boolean> {
    const { documents } = this.#store;
    const found = await documents.findOne({ _id, kind: KIND }).session(session).lean();
    if (!found || !isUsable(found)) return false;
    if (found.consumedAt !== undefined) return true;
    const now = Date.now();
    const $set = { consumedAt: new Date(now), expiresAt: new Date(now + USED_MS) };
    await documents.updateOne({ _id }, { $set }, { session });
    await this.#endOthers(session, found);
    return true;
  }

  /** Ends the tokens of a grant but one that is used for the first time, and the access tokens of its siblings. */
  async #endOthers(session: ClientSession, used: StateDocument): Promise<void> {
    const { _id, grant = '', userId } = used;
    const { documents, accounts } = this.#store;
    const others = { grant, kind: KIND, _id: { $ne: _id } };
    const unused = { ...others, consumedAt: { $exists: false } };
    const siblings = await documents.find(unused, '_id').session(session).lean();
    if (siblings.length > 0 && userId !== undefined) {
      const from = { $in: siblings.map((each) => each._id) };
      await documents.deleteMany({ grant, from }, { session });
      await accounts.tokensChanged(session, userId);
    }
    await documents.deleteMany({ ...others, from: { $exists: true } }, { session });
    // The first token of the grant, and those of release 1.2.0, which do not name it.
    const ended = {
      $set: { consumedAt: new Date(0) },
      $min: { expiresAt: new Date(Date.now() + USED_MS) },
    };
    await documents.updateMany(others, ended, { session });
  }
}

function isUsable({ consumedAt, expiresAt }: StateDocument): boolean {
  const now = Date.now();
  return consumedAt === undefined
    ? expiresAt.getTime() > now
    : now - consumedAt.getTime() <= GRACE_MS;
}
