import { invalidToken } from '../../../src/core/errors';
import { type Binding, type Tier, hashOf } from '../../../src/core/identity';
import { idText, newId } from '../../../src/core/ids';
import type { Act } from '../../../src/data/audit/entry';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Host } from '../../../src/plugins/host';
import { accountModel, newTokensVersion, tokenModel, type TokenDocument } from '../model';
import type { AccountService } from '../service';
import { MAX_TOKENS, tokenLimitReached } from '../errors';
import type { OwnToken } from '../schema';
import { OpenTokens } from './open-tokens';
import { type Pruned, pruneTokens } from './prune';
import { makeToken } from './token';
import { requireValid, valid } from './validity';
import { asOwn, asView, tokenTarget, type TokenView } from './views';

interface NewToken {
  userId: string;
  tier?: Tier | undefined;
  scopes: string[];
  name: string;
  expiresInSeconds: number;
}

/** A token that its owner creates. */
interface OwnNewToken {
  name: string;
  scopes: string[];
  /** In seconds. */
  expiresIn: number;
  /** When it expires at the latest, because the token that creates it does. */
  endsBy: Date | undefined;
  /** The grant of the app that creates it. */
  grant?: string | undefined;
  /** The only garden that it opens. */
  garden?: Binding | undefined;
}

/** Creates, rotates, revokes and deletes tokens. */
export class TokenService {
  readonly #accounts;
  readonly #tokens;
  readonly #open: OpenTokens;
  readonly #host: Host;
  readonly #accountService: AccountService;

  constructor(host: Host, accountService: AccountService) {
    this.#host = host;
    this.#accountService = accountService;
    this.#accounts = host.model(accountModel);
    this.#tokens = host.model(tokenModel);
    this.#open = new OpenTokens(host, accountService);
  }

  /** Creates a token, and its account if missing; returns the token itself this once. */
  async createToken(wanted: NewToken): Promise<{ token: string; view: TokenView; tier: Tier }> {
    const { userId, scopes, name, expiresInSeconds } = wanted;
    const account = await this.#accountService.ensureAccount(userId, wanted.tier);
    const token = makeToken();
    const view = await this.#host.transact(userId, (tx) =>
      this.#insert(tx, token, { scopes, name }, expiresInSeconds * 1000),
    );
    return { token, view, tier: account.tier };
  }

  async tokens(userId?: string): Promise<TokenView[]> {
    const found = this.#tokens.find(userId === undefined ? {} : { userId });
    const tokens = await found.sort({ userId: 1, createdAt: 1 }).lean();
    return tokens.map(asView);
  }

  /** The valid tokens of an account, oldest first. */
  async validTokens(userId: string): Promise<OwnToken[]> {
    return (await this.#open.of(userId, new Date())).map(asOwn);
  }

  /**
   * Creates a token for the account of `tx`; returns the token itself this once.
   *
   * @throws ApiError token_limit_reached, or invalid_token if the grant has ended meanwhile
   */
  async makeOwn(
    tx: Transaction,
    { name, scopes, expiresIn, endsBy, grant, garden }: OwnNewToken,
  ): Promise<OwnToken & { token: string }> {
    const { session, userId, now } = tx;
    const held = await this.#open.of(userId, now, session);
    if (held.length >= MAX_TOKENS) throw tokenLimitReached.error();
    if (!(await this.#open.has({ userId, grant }, session))) throw invalidToken.error();
    const token = makeToken();
    const leftMs = endsBy === undefined ? Infinity : endsBy.getTime() - now.getTime();
    const lifetimeMs = Math.min(expiresIn * 1000, leftMs);
    const view = await this.#insert(tx, token, { name, scopes, grant, garden }, lifetimeMs);
    return { ...asOwn(view), token };
  }

  /** Revokes a valid token of the account of `tx`; returns whether there was one of this id. */
  async revokeOwn(tx: Transaction, id: string): Promise<boolean> {
    const { session, userId, now } = tx;
    const token = await this.#tokens.findOne({ userId, _id: id }).session(session).lean();
    if (!token || token.revokedAt !== null || token.expiresAt <= now) return false;
    await this.#revoke(tx, token);
    return true;
  }

  /** Revokes the tokens of an account that apps created under some grants, which end. */
  async endWith(
    grants: readonly string[],
    { session, userId, now, audit }: Pick<Transaction, 'session' | 'userId' | 'now' | 'audit'>,
  ): Promise<void> {
    const created = { ...valid(userId, now), grant: { $in: grants } };
    const found = await this.#tokens.find(created).session(session).lean();
    await this.#tokens.updateMany(created, { $set: { revokedAt: now } }, { session });
    for (const { _id } of found)
      audit({ action: 'token.revoked', target: tokenTarget(idText(_id)) });
  }

  /** Whether there is any token, valid or not. */
  async hasTokens(): Promise<boolean> {
    return (await this.#tokens.exists({})) !== null;
  }

  /** Revokes a token; returns undefined if there is none of this id. */
  async revokeToken(id: string): Promise<TokenView | undefined> {
    return this.#change(id, async (tx, token) => {
      if (token.revokedAt !== null) return asView(token);
      await this.#revoke(tx, token);
      return asView({ ...token, revokedAt: tx.now });
    });
  }

  /**
   * Creates a token with the name, scopes and lifetime of another, which then expires after an overlap.
   *
   * @returns undefined if there is none of this id
   * @throws OperatorError if the other is not valid any more, or was rotated before
   */
  async rotateToken(
    id: string,
    overlapSeconds: number,
  ): Promise<{ token: string; view: TokenView; rotated: TokenView } | undefined> {
    const token = makeToken();
    return this.#change(id, async (tx, old) => {
      requireValid(old, tx.now);
      const lifetimeMs = old.expiresAt.getTime() - old.createdAt.getTime();
      const view = await this.#insert(tx, token, old, lifetimeMs, { rotatedFrom: id });
      const overlapEnd = tx.now.getTime() + overlapSeconds * 1000;
      const expiresAt = new Date(Math.min(old.expiresAt.getTime(), overlapEnd));
      await this.#update(tx, old, { expiresAt, replacedBy: view.id });
      tx.audit({
        action: 'token.rotated',
        target: tokenTarget(id),
        changes: { replacedBy: view.id, expiresAt: { from: old.expiresAt, to: expiresAt } },
      });
      return { token, view, rotated: asView({ ...old, expiresAt, replacedBy: view.id }) };
    });
  }

  /** Revokes all tokens of an account; returns the developer tokens as they were. */
  async revokeTokensOf(userId: string): Promise<TokenView[]> {
    return this.#host.transact(userId, (tx) => this.revokeAll(tx));
  }

  /** Revokes all tokens of the account of `tx`; returns the developer tokens as they were. */
  async revokeAll(tx: Transaction): Promise<TokenView[]> {
    const found = await this.#tokens.find(valid(tx.userId, tx.now)).session(tx.session).lean();
    for (const token of found) await this.#revoke(tx, token);
    await this.#accountService.revokeOtherTokens(tx);
    return found.map(asView);
  }

  /** The id of a token, valid or not; undefined if it is unknown. */
  async idOf(token: string): Promise<string | undefined> {
    const found = await this.#tokens.findOne({ hash: hashOf(token) }).lean();
    return found ? idText(found._id) : undefined;
  }

  /** Deletes expired tokens; returns how many. */
  pruneTokens(): Promise<Pruned> {
    return pruneTokens(this.#host);
  }

  async #change<T>(
    id: string,
    change: (tx: Transaction, token: TokenDocument) => Promise<T>,
  ): Promise<T | undefined> {
    const found = await this.#tokens.findOne({ _id: id }).lean();
    if (!found) return undefined;
    return this.#host.transact(found.userId, async (tx) => {
      const token = await this.#tokens.findOne({ _id: id }).session(tx.session).lean();
      return token ? change(tx, token) : undefined;
    });
  }

  async #insert(
    tx: Transaction,
    token: string,
    { name, scopes, grant, garden }: Pick<OwnNewToken, 'name' | 'scopes' | 'grant' | 'garden'>,
    lifetimeMs: number,
    origin: Act['changes'] = {},
  ): Promise<TokenView> {
    const document: TokenDocument = {
      _id: newId(),
      userId: tx.userId,
      hash: hashOf(token),
      name,
      scopes,
      createdAt: tx.now,
      expiresAt: new Date(tx.now.getTime() + lifetimeMs),
      revokedAt: null,
      lastUsedAt: null,
      ...(grant === undefined ? {} : { grant }),
      ...(garden && { garden }),
    };
    await this.#tokens.bulkWrite([{ insertOne: { document } }], { session: tx.session });
    const { expiresAt } = document;
    tx.audit({
      action: 'token.created',
      target: tokenTarget(idText(document._id)),
      changes: { scopes, expiresAt, ...(garden && { garden: garden.owner }), ...origin },
    });
    return asView(document);
  }

  async #revoke(tx: Transaction, token: TokenDocument): Promise<void> {
    await this.#update(tx, token, { revokedAt: tx.now });
    tx.audit({ action: 'token.revoked', target: tokenTarget(idText(token._id)) });
  }

  /** Updates a token; every process uses the update from the next request on. */
  async #update(
    { session, userId }: Transaction,
    { _id }: TokenDocument,
    changes: Partial<TokenDocument>,
  ): Promise<void> {
    await this.#tokens.updateOne({ _id }, { $set: changes }, { session });
    const tokensVersion = newTokensVersion();
    await this.#accounts.updateOne({ _id: userId }, { $set: { tokensVersion } }, { session });
  }
}
