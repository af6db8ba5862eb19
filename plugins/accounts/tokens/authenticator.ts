import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';

import { BatchLookup } from '../../../src/core/async/batch-lookup';
import {
  type AuthenticationOptions,
  type Authenticator,
  type CallSource,
  type Principal,
  type TokenFault,
} from '../../../src/core/identity';
import { idText } from '../../../src/core/ids';
import { HOUR_MS } from '../../../src/core/time';
import { hashOf } from '../../../src/core/secrets';
import type { Acting } from '../../../src/data/audit/entry';
import type { Host } from '../../../src/plugins/host';
import {
  accountModel,
  type AccountDocument,
  asAccount,
  tokenModel,
  type TokenDocument,
} from '../model';
import { isWellFormedToken } from './token';

/** Good tokens of which a process keeps in mind what they are. */
const MAX_KNOWN = 10_000;
/** How many last uses are noted at once. */
const MAX_UPDATES = 2;

/** What a token is, of whichever kind. */
export interface StoredToken extends TokenDocument {
  /** The one path that it opens, where there is one. */
  onlyAt?: string | undefined;
  /** From when on it is looked up anew, though nothing here has changed it. */
  askAgainAt?: Date;
}

/** A kind of token. */
export interface TokenKind {
  /** Whether a token is shaped like one. */
  isOne(token: string): boolean;
  /** What a token is, or why it is not good; undefined where nobody knows it. */
  find(token: string, hash: string): Promise<StoredToken | TokenFault | undefined>;
}

/** What a process knows of a good token. */
interface KnownToken {
  token: StoredToken;
  /** The version of the account's tokens as of which it is this. */
  version: string | undefined;
}

/** Who holds a token: asked for by every request. */
export class TokenAuthenticator implements Authenticator {
  readonly #accounts;
  readonly #tokens;
  readonly #known = new LRUCache<string, KnownToken>({ max: MAX_KNOWN });
  /** All tokens in use come with the new hour; what waits for a connection is not to be these. */
  readonly #updates = pLimit(MAX_UPDATES);
  /** The hour of the last use of a token, by its hash; noted or about to be. */
  readonly #lastUses = new LRUCache<string, Date>({ max: MAX_KNOWN });
  /** Every request reads its account; those that come together do so in one query. */
  readonly #current = new BatchLookup((ids) => this.#byId(ids));
  /** All of a crowd may come with tokens that are not known yet. */
  readonly #stored = new BatchLookup<StoredToken>((hashes) => this.#byHash(hashes));
  readonly #developer: TokenKind = {
    isOne: isWellFormedToken,
    find: (_token, hash) => this.#stored.get(hash),
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
    // A token that is known costs a read of the account alone.
    const account = await this.#current.get(found.userId);
    const version = account?.tokensVersion;
    const isCurrent = known !== undefined && known.version === version;
    // Read after the account: whatever changes a token changes the version with it.
    const current = isCurrent ? found : checked(await kind.find(token, hash), now);
    if (typeof current === 'string' || !account || account.deletingSince) {
      this.#known.delete(hash);
      return typeof current === 'string' ? current : 'unknown';
    }
    if (!isCurrent) this.#known.set(hash, { token: current, version });
    if (!isOfSignIn) this.#recordUse(current, now, source);
    const { _id, name, scopes, expiresAt, onlyAt } = current;
    const held = { id: idText(_id), name, scopes, expiresAt };
    return {
      account: asAccount(account),
      scopes: new Set(scopes),
      token: { ...held, endsBy: isOfSignIn ? undefined : expiresAt },
      onlyAt,
    };
  }

  /** Has tokens of another kind let people in as well. */
  accept(kind: TokenKind): void {
    this.#kinds.push(kind);
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
   * To the hour at best, so that reading does not become writing (docs/api.md, "Accounts,
   * tiers, tokens").
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

  /** Not as a write to the account, which would make its cached answers worthless. */
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

/** A token that is good, or why it is not. */
function checked(token: StoredToken | TokenFault | undefined, now: Date): StoredToken | TokenFault {
  if (token === undefined) return 'unknown';
  if (typeof token === 'string') return token;
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt > now ? token : 'expired';
}

function hasCome(moment: Date | undefined, now: Date): boolean {
  return moment !== undefined && moment <= now;
}

/** Most look for one, which in a sharded cluster is on one shard. */
function oneOf(keys: readonly string[]) {
  const [first] = keys;
  return keys.length === 1 && first !== undefined ? first : { $in: [...keys] };
}
