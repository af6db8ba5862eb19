import type { ClientSession } from 'mongoose';

import { BatchLookup } from '../../src/core/batch-lookup';
import { BoundedMap } from '../../src/core/bounded-map';
import { invalidToken } from '../../src/core/errors';
import type {
  Account,
  CallSource,
  Identity,
  Principal,
  Tier,
  Usage,
} from '../../src/core/identity';
import { asUuid, idText, type StoredId } from '../../src/core/ids';
import { HOUR_MS } from '../../src/core/time';
import { accountTarget, type Acting } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/host';
import { accountChanged } from './domain-events';
import {
  accountModel,
  type AccountDocument,
  newTokensVersion,
  tokenModel,
  type TokenDocument,
} from './model';
import { hashOf, isWellFormedToken } from './token';

interface AccountChanges {
  tier?: Tier | undefined;
  timezone?: string | undefined;
}

/** Good tokens of which a process keeps in mind what they are. */
const MAX_KNOWN = 10_000;
/** Accounts changed by one command, which then takes well under a second. */
const CHUNK = 1000;

/** What a process knows of a good token. */
interface KnownToken {
  token: TokenDocument;
  /** The version of the account's tokens as of which it is this. */
  version: string | undefined;
}

/** Accounts, and who holds a token: asked for by every request. */
export class AccountService implements Identity {
  readonly #accounts;
  readonly #tokens;
  readonly #known = new BoundedMap<string, KnownToken>(MAX_KNOWN);
  /** Every request reads its account; those that come together do so in one query. */
  readonly #current = new BatchLookup((ids) => this.#byId(ids));
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.#accounts = host.records(accountModel);
    this.#tokens = host.records(tokenModel);
  }

  async authenticate(
    token: string,
    { lookUp, source }: { lookUp: boolean; source: CallSource },
  ): Promise<Principal | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    const hash = hashOf(token);
    const now = new Date();
    const known = this.#known.get(hash);
    const found = known?.token ?? (lookUp ? await this.#goodToken({ hash }, now) : undefined);
    if (!found || found.expiresAt <= now) return undefined;
    // A token that is known costs a read of the account alone.
    const account = await this.#current.get(found.userId);
    const version = account?.tokensVersion;
    const isCurrent = known !== undefined && known.version === version;
    // Read after the account: whatever changes a token changes the version with it.
    const current = isCurrent ? found : await this.#goodToken({ _id: asUuid(found._id) }, now);
    if (!account || account.deletingSince || !current) {
      this.#known.delete(hash);
      return undefined;
    }
    if (!isCurrent) this.#known.set(hash, { token: current, version });
    this.#recordUse(current, now, source);
    const { _id, name, scopes, expiresAt } = current;
    return {
      account: asAccount(account),
      scopes: new Set(scopes),
      token: { id: idText(_id), name, scopes, expiresAt },
    };
  }

  async open(session: ClientSession, userId: string, added: Usage): Promise<Account> {
    const account = await this.#accounts.findOneAndUpdate(
      { session },
      { _id: userId, deletingSince: { $exists: false } },
      { $inc: { revision: 1, ...incrementsOf(added) } },
      { returnDocument: 'before' },
    );
    if (!account) throw invalidToken.error('There is no such account, or it is being deleted.');
    return asAccount(account);
  }

  async addUsage(session: ClientSession, userId: string, added: Usage): Promise<void> {
    await this.#accounts.updateOne({ session }, { _id: userId }, { $inc: incrementsOf(added) });
  }

  async accountIds(): Promise<string[]> {
    const accounts = await this.#accounts.find(
      {},
      { deletingSince: { $exists: false } },
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

  /** The account of a user: made when missing, its tier set when one is given. */
  async ensureAccount(userId: string, tier?: Tier, timezone = 'UTC'): Promise<Account> {
    const account =
      (await this.account(userId)) ?? (await this.#create(userId, tier ?? 'free', timezone));
    if (tier === undefined || account.tier === tier) return account;
    return this.changeAccount(userId, { tier });
  }

  /** Changes an account, and emits it. */
  changeAccount(userId: string, changes: AccountChanges): Promise<Account> {
    return this.#host.transact(userId, (tx) => this.change(tx, changes));
  }

  /** Changes the account of `tx`, and emits it. */
  async change(tx: Transaction, changes: AccountChanges): Promise<Account> {
    const before = { ...tx.account };
    const after = {
      ...before,
      tier: changes.tier ?? before.tier,
      timezone: changes.timezone ?? before.timezone,
    };
    await this.#accounts.updateOne(
      { session: tx.session },
      { _id: tx.userId },
      { $set: { tier: after.tier, timezone: after.timezone, updatedAt: tx.now } },
    );
    // Writes that share this transaction come after the change.
    Object.assign(tx.account, { tier: after.tier, timezone: after.timezone });
    const changed = changesBetween(before, after);
    if (Object.keys(changed).length > 0) {
      tx.audit({ action: 'account.changed', target: accountTarget(tx.userId), changes: changed });
    }
    await tx.emit(accountChanged, { before, after });
    return after;
  }

  async account(userId: string): Promise<Account | undefined> {
    const account = await this.#accounts.findOne({}, { _id: userId });
    return account ? asAccount(account) : undefined;
  }

  async accounts(): Promise<Account[]> {
    const accounts = await this.#accounts.find({}, {}, { sort: { _id: 1 } });
    return accounts.map(asAccount);
  }

  #create(userId: string, tier: Tier, timezone: string): Promise<Account> {
    return this.#host.transactShared(async (tx) => {
      const { session, now } = tx;
      const created = { tier, timezone, revision: 0, usage: {}, createdAt: now, updatedAt: now };
      const isNew = await this.#accounts.upsert(
        { session },
        { _id: userId },
        // Not that of an account of this name that was deleted: a process may know its tokens.
        { $setOnInsert: { ...created, tokensVersion: newTokensVersion() } },
      );
      if (isNew) {
        const act = { action: 'account.created', target: accountTarget(userId) };
        tx.audit({ ...act, changes: { tier, timezone } }, userId);
      }
      const account = await this.#accounts.findOne({ session }, { _id: userId });
      if (!account) throw new Error(`The account ${userId} was removed while it was made.`);
      return asAccount(account);
    });
  }

  async #goodToken(
    filter: { hash: string } | { _id: StoredId },
    now: Date,
  ): Promise<TokenDocument | undefined> {
    const token = await this.#tokens.findOne({}, filter);
    return token?.revokedAt === null && token.expiresAt > now ? token : undefined;
  }

  async #byId(ids: readonly string[]): Promise<Map<string, AccountDocument>> {
    const [first] = ids;
    // Of many readers most are of one account, and in a sharded cluster one id is on one shard.
    const _id = ids.length === 1 && first !== undefined ? first : { $in: [...ids] };
    const found = await this.#accounts.find({}, { _id });
    return new Map(found.map((account) => [account._id, account]));
  }

  /**
   * To the hour at best, so that reading does not become writing (docs/decisions.md, "Accounts,
   * tiers, tokens").
   */
  #recordUse(token: TokenDocument, now: Date, source: CallSource): void {
    const begun = new Date(now.getTime() - (now.getTime() % HOUR_MS));
    const hour = begun < token.createdAt ? token.createdAt : begun;
    if (token.lastUsedAt !== null && token.lastUsedAt >= hour) return;
    const before = token.lastUsedAt;
    token.lastUsedAt = hour;
    const recorded =
      before === null
        ? this.#recordFirstUse(token, hour, source)
        : this.#tokens.updateOne({}, { _id: asUuid(token._id) }, { $set: { lastUsedAt: hour } });
    recorded.catch((error: unknown) => {
      token.lastUsedAt = before;
      this.#host.log.debug({ err: error }, 'The last use of a token was not recorded');
    });
  }

  /** Not as a write to the account, which would make its cached answers worthless. */
  async #recordFirstUse(token: TokenDocument, hour: Date, source: CallSource): Promise<void> {
    const { _id, userId } = token;
    const id = idText(_id);
    const acting: Acting = { actor: { type: 'token', account: userId, token: id }, source };
    await this.#host.transactShared(async (tx) => {
      const unused = { _id: asUuid(_id), lastUsedAt: null };
      const isFirst = await this.#tokens.updateOne({ session: tx.session }, unused, {
        $set: { lastUsedAt: hour },
      });
      const act = { action: 'token.first_used', target: { type: 'token', id } };
      if (isFirst) tx.audit(act, userId, acting);
    });
  }
}

function incrementsOf(usage: Usage): Record<string, number> {
  return Object.fromEntries(Object.entries(usage).map(([name, by]) => [`usage.${name}`, by]));
}

function asAccount(document: AccountDocument): Account {
  const { _id: id, tier, timezone, createdAt, revision, usage } = document;
  return { id, tier, timezone, createdAt, revision, usage };
}

function changesBetween(before: Account, after: Account): Record<string, unknown> {
  const fields = ['tier', 'timezone'] as const;
  const changed = fields.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(
    changed.map((field) => [field, { from: before[field], to: after[field] }]),
  );
}
