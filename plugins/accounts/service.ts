import type { ClientSession } from 'mongoose';

import { invalidToken, serviceUnavailable } from '../../src/core/errors';
import {
  type Account,
  type AuthenticationOptions,
  type Identity,
  isAccountGone,
  type Principal,
  type Tier,
  type TokenFault,
  type Usage,
} from '../../src/core/identity';
import { chunksOf } from '../../src/core/values';
import type { SharedTransaction } from '../../src/data/audit/audit-log';
import { accountTarget, type Acting } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { insertMissing, type NewAccount } from './creation';
import { reminderTimeChanged, tierChanged } from './domain-events';
import { TokenAuthenticator, type TokenKind } from './tokens/authenticator';
import { hasToken } from './tokens/token';
import { type AccountChanges, changesBetween, tierOf } from './changes';
import {
  type AccountDocument,
  accountModel,
  asAccount,
  newTokensVersion,
  NOT_DELETED,
} from './model';

/** How many accounts one command changes. */
const CHUNK = 1000;
const MOVED = { revision: 1 };

/** Creates, changes and authenticates accounts. */
export class AccountService implements Identity {
  readonly hasToken = hasToken;
  readonly #accounts;
  readonly #authenticator;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.#accounts = host.model(accountModel);
    this.#authenticator = new TokenAuthenticator(host);
  }

  authenticate(token: string, options: AuthenticationOptions): Promise<Principal | TokenFault> {
    return this.#authenticator.authenticate(token, options);
  }

  /** Accepts another kind of token. */
  accept(kind: TokenKind): void {
    this.#authenticator.accept(kind);
  }

  /** When the grant of an app ends unless the app is used; undefined if it has ended. */
  grantEnd(grant: string, session?: ClientSession): Promise<Date | undefined> {
    return this.#authenticator.grantEnd(grant, session);
  }

  /** Revokes all tokens of the account of `tx` that are not developer tokens. */
  revokeOtherTokens(tx: Transaction): Promise<void> {
    return this.#authenticator.revokeOthers(tx);
  }

  /**
   * Makes every process look up the tokens of an account again, once this is committed. Conflicts
   * with closing the account.
   *
   * @returns whether the account is open
   */
  async tokensChanged(session: ClientSession, userId: string): Promise<boolean> {
    const $set = { tokensVersion: newTokensVersion() };
    const open = { _id: userId, ...NOT_DELETED };
    return (await this.#accounts.updateOne(open, { $set }, { session })).matchedCount === 1;
  }

  /** Whether an account exists and is not being deleted. */
  async isOpen(userId: string): Promise<boolean> {
    return (await this.#accounts.exists({ _id: userId, ...NOT_DELETED })) !== null;
  }

  async open(session: ClientSession, userIds: readonly string[]): Promise<Account[]> {
    const [first = '', ...more] = userIds;
    const found =
      more.length === 0
        ? await this.#openOne(session, first)
        : await this.#accounts
            .find({ _id: { $in: userIds }, ...NOT_DELETED })
            .session(session)
            .lean();
    if (found.length < userIds.length) {
      throw invalidToken.error('There is no such account, or it is being deleted.');
    }
    return found.map(asAccount);
  }

  async close(session: ClientSession, added: ReadonlyMap<string, Usage>): Promise<void> {
    // Several accounts share a short transaction, so one command at its end writes them.
    const opened = added.size === 1 ? {} : MOVED;
    const writes = [...added].flatMap(([_id, usage]) => {
      const $inc = { ...opened, ...incrementsOf(usage) };
      const isNothing = Object.keys($inc).length === 0;
      return isNothing ? [] : { updateOne: { filter: { _id }, update: { $inc } } };
    });
    if (writes.length > 0) await this.#accounts.bulkWrite(writes, { session });
  }

  async accountIds(): Promise<string[]> {
    const accounts = await this.#accounts.find(NOT_DELETED).select('_id').sort({ _id: 1 }).lean();
    return accounts.map((account) => account._id);
  }

  async raiseRevisions(by: number): Promise<{ userId: string; revision: number }[]> {
    const raised: { userId: string; revision: number }[] = [];
    for (const ids of chunksOf(await this.accountIds(), CHUNK)) {
      const named = { _id: { $in: ids } };
      await this.#accounts.updateMany(named, { $inc: { revision: by } });
      const found = await this.#accounts.find(named).select('revision').lean();
      raised.push(...found.map(({ _id: userId, revision }) => ({ userId, revision })));
    }
    return raised;
  }

  /** Returns an account; creates it if missing, and sets its tier if given. */
  async ensureAccount(userId: string, tier?: Tier, timezone?: string): Promise<Account> {
    const account = await this.account(userId);
    if (!account) return (await this.putAccount(userId, { tier, timezone })).account;
    if (tier === undefined || (account.tier === tier && !account.tierUntil)) return account;
    return this.changeAccount(userId, { tier });
  }

  /** Creates those of many accounts that are missing, together. */
  async createMissing(wanted: readonly NewAccount[]): Promise<void> {
    const named = { _id: { $in: wanted.map(({ userId }) => userId) } };
    const found = await this.#accounts.find(named).select('_id').lean();
    const known = new Set(found.map(({ _id }) => _id));
    const missing = wanted.filter(({ userId }) => !known.has(userId));
    if (missing.length === 0) return;
    await this.#host.transactShared((tx) => insertMissing(this.#host, tx, missing));
  }

  /**
   * Creates an account, or changes it if it exists.
   *
   * @throws ApiError service_unavailable while an account of this id is being deleted
   */
  async putAccount(
    userId: string,
    changes: AccountChanges,
    acting?: Acting,
  ): Promise<{ account: Account; isNew: boolean }> {
    if (!(await this.#accounts.exists({ _id: userId }))) {
      const made = await this.#create(userId, changes, acting);
      if (made.isNew) return made;
    }
    try {
      return { account: await this.changeAccount(userId, changes, acting), isNew: false };
    } catch (error) {
      throw isAccountGone(error) ? beingDeleted() : error;
    }
  }

  /** Changes an account. */
  changeAccount(userId: string, changes: AccountChanges, acting?: Acting): Promise<Account> {
    return this.#host.transact(userId, (tx) => this.change(acting ? tx.as(acting) : tx, changes));
  }

  /** Changes the account of `tx`. */
  async change(tx: Transaction, changes: AccountChanges): Promise<Account> {
    const before = { ...tx.account };
    const after = {
      ...before,
      ...tierOf(before, changes),
      timezone: changes.timezone ?? before.timezone,
      language: changes.language ?? before.language,
      remindAt: changes.remindAt === undefined ? before.remindAt : changes.remindAt,
      gardenName: changes.gardenName === undefined ? before.gardenName : changes.gardenName,
    };
    const changed = changesBetween(before, after);
    if (Object.keys(changed).length === 0) return after;
    const { tier, tierUntil, timezone, language, remindAt } = after;
    // A tier that has ended stays stored until its end was emitted.
    const ofTier =
      changed['tier'] || changed['tierUntil'] ? { tier, tierUntil: tierUntil ?? null } : {};
    const name = changed['gardenName'] ? { gardenName: after.gardenName } : {};
    const $set = { ...ofTier, ...name, timezone, language, remindAt, updatedAt: tx.now };
    const { session } = tx;
    await this.#accounts.updateOne({ _id: tx.userId }, { $set }, { session });
    // Later writes in this transaction see the change.
    Object.assign(tx.account, after);
    tx.audit({ action: 'account.changed', target: accountTarget(tx.userId), changes: changed });
    if (changed['tier']) await tx.emit(tierChanged, { tier });
    if (changed['timezone'] || changed['remindAt']) {
      await tx.emit(reminderTimeChanged, { timezone, remindAt });
    }
    return after;
  }

  async account(userId: string): Promise<Account | undefined> {
    const account = await this.#accounts.findOne({ _id: userId }).lean();
    return account ? asAccount(account) : undefined;
  }

  /** An account that is not being deleted. */
  async person(userId: string, session?: ClientSession): Promise<Account | undefined> {
    const found = this.#accounts.findOne({ _id: userId, ...NOT_DELETED });
    const account = await found.session(session ?? null).lean();
    return account ? asAccount(account) : undefined;
  }

  /** At once, so that a long transaction does not meet a conflict at its end. */
  async #openOne(session: ClientSession, userId: string): Promise<AccountDocument[]> {
    const filter = { _id: userId, ...NOT_DELETED };
    const found = await this.#accounts
      .findOneAndUpdate(filter, { $inc: MOVED }, { session })
      .lean();
    return found ? [found] : [];
  }

  #create(
    userId: string,
    changes: AccountChanges,
    acting?: Acting,
  ): Promise<{ account: Account; isNew: boolean }> {
    return this.#host.transactShared(async (tx) => {
      const isNew = await this.createIn(tx, userId, changes, acting);
      const account = await this.#accounts.findOne({ _id: userId }).session(tx.session).lean();
      if (!account)
        throw new Error(`The account ${userId} was deleted while it was being created.`);
      return { account: asAccount(account), isNew };
    });
  }

  /** Creates an account unless one of this id exists; returns whether it did. */
  async createIn(
    tx: SharedTransaction,
    userId: string,
    changes: AccountChanges,
    acting?: Acting,
  ): Promise<boolean> {
    return (await insertMissing(this.#host, tx, [{ userId, ...changes }], acting)) === 1;
  }
}

function beingDeleted(): Error {
  return serviceUnavailable.error(
    'The account of this id is being deleted; try again in a few seconds.',
    { headers: { 'Retry-After': '5' } },
  );
}

function incrementsOf(usage: Usage): Record<string, number> {
  return Object.fromEntries(Object.entries(usage).map(([name, by]) => [`usage.${name}`, by]));
}
