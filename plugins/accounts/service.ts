import type { ClientSession } from 'mongoose';

import { BoundedMap } from '../../src/core/bounded-map';
import type { Account, Identity, Principal, Tier, Usage } from '../../src/core/identity';
import { asUuid, idText, newId, toStoredId } from '../../src/core/ids';
import { HOUR_MS } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import { accountChanged } from './domain-events';
import { accountModel, type AccountDocument, tokenModel, type TokenDocument } from './model';
import { hashOf, isWellFormedToken, makeToken } from './token';

/** A token as operators see it; the token itself only when it is made. */
export interface TokenView {
  id: string;
  user: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

export interface NewToken {
  userId: string;
  tier?: Tier | undefined;
  scopes: string[];
  name: string;
  expiresInSeconds: number;
}

/** Good tokens of which a process keeps in mind what they are. */
const MAX_KNOWN = 10_000;
/** Accounts changed by one command, which then takes well under a second. */
const CHUNK = 1000;

/** Accounts and tokens: made by operators, asked for by every request. */
export class AccountService implements Identity {
  readonly #accounts;
  readonly #tokens;
  readonly #known = new BoundedMap<string, TokenDocument>(MAX_KNOWN);
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.#accounts = host.records(accountModel);
    this.#tokens = host.records(tokenModel);
  }

  async authenticate(
    token: string,
    { lookUp }: { lookUp: boolean },
  ): Promise<Principal | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    const hash = hashOf(token);
    const known =
      this.#known.get(hash) ?? (lookUp ? await this.#tokens.findOne({}, { hash }) : null);
    const now = new Date();
    if (!known || known.revokedAt !== null || known.expiresAt <= now) return undefined;
    // What a token is never changes but for its revocation, which its account records: so one that
    // is known costs a read of the account alone.
    const account = await this.#accounts.findOne({}, { _id: known.userId });
    if (!account || account.revokedTokens.includes(idText(known._id))) {
      this.#known.delete(hash);
      return undefined;
    }
    this.#known.set(hash, known);
    this.#recordUse(known, now);
    return { account: asAccount(account), scopes: new Set(known.scopes) };
  }

  async open(session: ClientSession, userId: string, added: Usage): Promise<Account> {
    const account = await this.#accounts.findOneAndUpdate(
      { session },
      { _id: userId },
      { $inc: { revision: 1, ...incrementsOf(added) } },
      { returnDocument: 'before' },
    );
    if (!account) throw new Error('There is no such account.');
    return asAccount(account);
  }

  async addUsage(session: ClientSession, userId: string, added: Usage): Promise<void> {
    await this.#accounts.updateOne({ session }, { _id: userId }, { $inc: incrementsOf(added) });
  }

  async accountIds(): Promise<string[]> {
    const accounts = await this.#accounts.find(
      {},
      {},
      { projection: { _id: 1 }, sort: { _id: 1 } },
    );
    return accounts.map((account) => account._id);
  }

  async raiseRevisions(by: number): Promise<void> {
    const ids = await this.accountIds();
    for (let start = 0; start < ids.length; start += CHUNK) {
      const chunk = { _id: { $in: ids.slice(start, start + CHUNK) } };
      await this.#accounts.updateMany({}, chunk, { $inc: { revision: by } });
    }
  }

  /** Makes a token, and its account when there is none; answers the token this once. */
  async createToken(wanted: NewToken): Promise<{ token: string; view: TokenView; tier: Tier }> {
    const account = await this.ensureAccount(wanted.userId, wanted.tier);
    const token = makeToken();
    const now = new Date();
    const document: TokenDocument = {
      _id: newId(),
      userId: wanted.userId,
      hash: hashOf(token),
      name: wanted.name,
      scopes: wanted.scopes,
      createdAt: now,
      expiresAt: new Date(now.getTime() + wanted.expiresInSeconds * 1000),
      revokedAt: null,
      lastUsedAt: null,
    };
    await this.#tokens.insert({}, document);
    return { token, view: asView(document), tier: account.tier };
  }

  /** The account of a user: made when missing, its tier set when one is given. */
  async ensureAccount(userId: string, tier?: Tier, timezone = 'UTC'): Promise<Account> {
    const now = new Date();
    await this.#accounts.upsert(
      {},
      { _id: userId },
      {
        $setOnInsert: {
          tier: tier ?? 'free',
          timezone,
          revision: 0,
          usage: {},
          revokedTokens: [],
          createdAt: now,
          updatedAt: now,
        },
      },
    );
    const account = await this.account(userId);
    if (!account) throw new Error(`The account ${userId} was removed while it was made.`);
    if (tier === undefined || account.tier === tier) return account;
    return this.changeAccount(userId, { tier });
  }

  /** Changes an account, and emits it. */
  changeAccount(
    userId: string,
    changes: { tier?: Tier | undefined; timezone?: string | undefined },
  ): Promise<Account> {
    return this.#host.transact(userId, async (tx) => {
      const before = { ...tx.account };
      const after = {
        ...before,
        tier: changes.tier ?? before.tier,
        timezone: changes.timezone ?? before.timezone,
      };
      await this.#accounts.updateOne(
        { session: tx.session },
        { _id: userId },
        { $set: { tier: after.tier, timezone: after.timezone, updatedAt: tx.now } },
      );
      // Writes that share this transaction come after the change.
      Object.assign(tx.account, { tier: after.tier, timezone: after.timezone });
      await tx.emit(accountChanged, { before, after });
      return after;
    });
  }

  async account(userId: string): Promise<Account | undefined> {
    const account = await this.#accounts.findOne({}, { _id: userId });
    return account ? asAccount(account) : undefined;
  }

  async accounts(): Promise<Account[]> {
    const accounts = await this.#accounts.find({}, {}, { sort: { _id: 1 } });
    return accounts.map(asAccount);
  }

  async tokens(userId?: string): Promise<TokenView[]> {
    const tokens = await this.#tokens.find({}, userId === undefined ? {} : { userId }, {
      sort: { userId: 1, createdAt: 1 },
    });
    return tokens.map(asView);
  }

  /** Revokes a token from the next request on; undefined when there is none of this id. */
  async revokeToken(id: string): Promise<TokenView | undefined> {
    const _id = toStoredId(id);
    const token = await this.#tokens.findOne({}, { _id });
    if (!token) return undefined;
    return this.#host.transact(token.userId, async ({ now, session }) => {
      const unrevoked = { _id, revokedAt: null };
      await this.#tokens.updateOne({ session }, unrevoked, { $set: { revokedAt: now } });
      // One that has expired needs no revocation any more, or the list would only grow.
      const refused = await this.#tokens.find(
        { session },
        { userId: token.userId, revokedAt: { $ne: null }, expiresAt: { $gt: now } },
      );
      await this.#accounts.updateOne(
        { session },
        { _id: token.userId },
        { $set: { revokedTokens: refused.map((each) => idText(each._id)) } },
      );
      const revoked = await this.#tokens.findOne({ session }, { _id });
      return revoked ? asView(revoked) : undefined;
    });
  }

  /**
   * To the hour at best, so that reading does not become writing (docs/decisions.md, "Accounts,
   * tiers, tokens").
   */
  #recordUse(token: TokenDocument, now: Date): void {
    const begun = new Date(now.getTime() - (now.getTime() % HOUR_MS));
    const hour = begun < token.createdAt ? token.createdAt : begun;
    if (token.lastUsedAt !== null && token.lastUsedAt >= hour) return;
    const before = token.lastUsedAt;
    token.lastUsedAt = hour;
    this.#tokens
      .updateOne({}, { _id: asUuid(token._id) }, { $set: { lastUsedAt: hour } })
      .catch((error: unknown) => {
        token.lastUsedAt = before;
        this.#host.log.debug({ err: error }, 'The last use of a token was not recorded');
      });
  }
}

/** What other plugins and commands may do with accounts and tokens. */
export type Accounts = Pick<
  AccountService,
  | 'account'
  | 'accounts'
  | 'changeAccount'
  | 'createToken'
  | 'ensureAccount'
  | 'revokeToken'
  | 'tokens'
>;

function incrementsOf(usage: Usage): Record<string, number> {
  return Object.fromEntries(Object.entries(usage).map(([name, by]) => [`usage.${name}`, by]));
}

function asAccount(document: AccountDocument): Account {
  const { _id: id, tier, timezone, createdAt, revision, usage } = document;
  return { id, tier, timezone, createdAt, revision, usage };
}

function asView(document: TokenDocument): TokenView {
  const { _id, userId, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } = document;
  return {
    id: idText(_id),
    user: userId,
    name,
    scopes,
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
  };
}
