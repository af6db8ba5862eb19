import { LRUCache } from 'lru-cache';
import type { ClientSession } from 'mongoose';
import pLimit from 'p-limit';

import { BatchLookup } from '../../../src/core/batch-lookup';
import { boundGarden } from '../../../src/core/gardens';
import {
  type AuthenticationOptions,
  type Authenticator,
  type CallSource,
  type Principal,
  type TokenFault,
  hashOf,
} from '../../../src/core/identity';
import { idText } from '../../../src/core/ids';
import { HOUR_MS } from '../../../src/core/time';
import type { Acting } from '../../../src/data/audit/entry';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Host } from '../../../src/plugins/host';
import {
  accountModel,
  type AccountDocument,
  asAccount,
  tokenModel,
  type TokenDocument,
} from '../model';
import { isWellFormedToken } from './token';

/** How many valid tokens a process remembers. */
const MAX_KNOWN = 10_000;
/** How many last uses are recorded at once. */
const MAX_UPDATES = 2;

/** A token of any kind. */
export interface StoredToken extends TokenDocument {
  /** The only path that it opens; all if left out. */
  onlyAt?: string | undefined;
  /** When it must be looked up again, even if unchanged. */
  askAgainAt?: Date;
}

/** A kind of token. */
export interface TokenKind {
  /** Whether a token has the form of this kind. */
  isOne(token: string): boolean;
  /** Looks up a token; returns why it is invalid, or undefined if it is unknown. */
  find(token: string, hash: string): Promise<StoredToken | TokenFault | undefined>;
  /** When a grant of this kind ends unless the app is used; undefined if it has ended. */
  grantEnd?(grant: string, session?: ClientSession): Promise<Date | undefined>;
  /** Revokes all tokens of this kind of the account of `tx`, if they can be revoked here. */
  revokeAll?(tx: Transaction): Promise<void>;
}

/** A token that a process remembers. */
interface KnownToken {
  token: StoredToken;
  /** The version of the account's tokens when it was looked up. */
  version: string | undefined;
}

/** Authenticates requests by their tokens. */
export class TokenAuthenticator implements Pick<Authenticator, 'authenticate'> {
  readonly #accounts;
  readonly #tokens;
  readonly #known = new LRUCache<string, KnownToken>({ max: MAX_KNOWN });
  /** All tokens in use are recorded as an hour begins, and must not take all connections. */
  readonly #updates = pLimit(MAX_UPDATES);
  /** The hour of the last use of a token, by its hash, recorded or about to be. */
  readonly #lastUses = new LRUCache<string, Date>({ max: MAX_KNOWN });
  /** Every request reads its account; concurrent ones share a query. */
  readonly #current = new BatchLookup((ids) => this.#byId(ids));
  /** Many requests with unknown tokens may arrive at once. */
  readonly #stored = new BatchLookup<StoredToken>((hashes) => this.#byHash(hashes));
  readonly #developer: TokenKind = {
    isOne: isWellFormedToken,
    find: async (_token, hash) => this.#ofOpenGrant(await this.#stored.get(hash)),
  };
  readonly #kinds = [this.#developer];
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.#accounts = host.model(accountModel);
    this.#tokens = host.model(tokenModel);
  }

  async authenticate(
    token: string,
    { lookUp, source }: AuthenticationOptions,
  ): Promise<Principal | TokenFault> {
    const kind = this.#kinds.find((each) => each.isOne(token));
    if (!kind) return 'unknown';
    const isOfSignIn = kind !== this.#developer;
    const hash = hashOf(token);
    const now = new Date();
    const remembered = this.#known.get(hash);
    const isOld = lookUp && hasCome(remembered?.token.askAgainAt, now);
    const known = isOld ? undefined : remembered;
    const stored = known?.token ?? (lookUp ? await kind.find(token, hash) : undefined);
    const found = checked(stored, now);
    if (typeof found === 'string') return found;
    // A remembered token costs only a read of the account.
    const account = await this.#current.get(found.userId);
    const version = account?.tokensVersion;
    const isCurrent = known !== undefined && known.version === version;
    // Read after the account: a change of a token changes the version in the same transaction.
    const current = isCurrent ? found : checked(await kind.find(token, hash), now);
    if (typeof current === 'string' || !account || account.deletingSince) {
      this.#known.delete(hash);
      return typeof current === 'string' ? current : 'unknown';
    }
    const bound = current.garden;
    const garden = bound && (await boundGarden(bound, account._id, this.#host.gardens()));
    if (garden === null) return 'closed';
    if (!isCurrent) this.#known.set(hash, { token: current, version });
    if (!isOfSignIn) this.#recordUse(current, now, source);
    const { _id, name, scopes, expiresAt, onlyAt, grant } = current;
    const held = { id: idText(_id), name, scopes, expiresAt, grant, garden: bound };
    return {
      account: asAccount(account),
      scopes: new Set(scopes),
      token: { ...held, endsBy: isOfSignIn ? undefined : expiresAt },
      onlyAt,
      garden,
    };
  }

  /** Accepts another kind of token. */
  accept(kind: TokenKind): void {
    this.#kinds.push(kind);
  }

  /** When a grant ends unless its app is used; undefined if it has ended. */
  async grantEnd(grant: string, session?: ClientSession): Promise<Date | undefined> {
    for (const kind of this.#kinds) {
      const end = await kind.grantEnd?.(grant, session);
      if (end) return end;
    }
    return undefined;
  }

  /** Revokes all tokens of other kinds of the account of `tx`. */
  async revokeOthers(tx: Transaction): Promise<void> {
    for (const kind of this.#kinds) await kind.revokeAll?.(tx);
  }

  /** A developer token, which ends with the grant of the app that created it. */
  async #ofOpenGrant(
    token: StoredToken | undefined,
  ): Promise<StoredToken | TokenFault | undefined> {
    if (token?.grant === undefined) return token;
    const askAgainAt = await this.grantEnd(token.grant);
    return askAgainAt ? { ...token, askAgainAt } : 'revoked';
  }

  async #byId(ids: readonly string[]): Promise<Map<string, AccountDocument>> {
    const found = await this.#accounts.find({ _id: oneOf(ids) }).lean();
    return new Map(found.map((account) => [account._id, account]));
  }

  async #byHash(hashes: readonly string[]): Promise<Map<string, TokenDocument>> {
    const found = await this.#tokens.find({ hash: oneOf(hashes) }).lean();
    return new Map(found.map((token) => [token.hash, token]));
  }

  /**
   * To the hour at best, so that reads do not become writes (docs/api.md, "Accounts, tiers, tokens").
   */
  #recordUse(token: TokenDocument, now: Date, source: CallSource): void {
    const begun = new Date(now.getTime() - (now.getTime() % HOUR_MS));
    const hour = begun < token.createdAt ? token.createdAt : begun;
    const last = this.#lastUses.get(token.hash) ?? token.lastUsedAt;
    if (last !== null && last >= hour) return;
    this.#lastUses.set(token.hash, hour);
    const recorded =
      last === null
        ? this.#recordFirstUse(token, hour, source)
        : this.#updates(() =>
            this.#tokens.updateOne({ _id: token._id }, { $set: { lastUsedAt: hour } }).exec(),
          );
    recorded.catch((error: unknown) => {
      this.#lastUses.delete(token.hash);
      this.#host.log.debug({ err: error }, 'The last use of a token was not recorded');
    });
  }

  /** Not as a write to the account, which would invalidate its cached responses. */
  async #recordFirstUse(token: TokenDocument, hour: Date, source: CallSource): Promise<void> {
    const { _id, userId } = token;
    const id = idText(_id);
    const acting: Acting = { actor: { type: 'token', account: userId, token: id }, source };
    await this.#host.transactShared(async (tx) => {
      const { session } = tx;
      const update = { $set: { lastUsedAt: hour } };
      const noted = await this.#tokens.updateOne({ _id, lastUsedAt: null }, update, { session });
      const act = { action: 'token.first_used', target: { type: 'token', id } };
      if (noted.matchedCount === 1) tx.audit(act, userId, acting);
    });
  }
}

/** The token if it is valid, else why it is not. */
function checked(token: StoredToken | TokenFault | undefined, now: Date): StoredToken | TokenFault {
  if (token === undefined) return 'unknown';
  if (typeof token === 'string') return token;
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt > now ? token : 'expired';
}

function hasCome(moment: Date | undefined, now: Date): boolean {
  return moment !== undefined && moment <= now;
}

/** Most lookups are of one key, which a sharded cluster answers from one shard. */
function oneOf(keys: readonly string[]) {
  const [first] = keys;
  return keys.length === 1 && first !== undefined ? first : { $in: [...keys] };
}
