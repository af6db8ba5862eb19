import type { ClientSession } from 'mongoose';

import type { Account, Author } from '../../core/identity';
import type { Recorded } from '../audit/audit-log';
import type { Act, Acting } from '../audit/entry';
import type { Quotas } from '../model/quotas';
import type { DomainEvent, Listener, Transaction } from './transaction';

/** An account in a transaction, and what its writes add. */
export class OpenAccount {
  readonly account: Account & { usage: Record<string, number> };
  readonly now = new Date();
  /** Added to the usage of quotas. */
  readonly added: Record<string, number> = {};
  /** For the audit log. */
  readonly recorded: Recorded[] = [];

  constructor(
    account: Account,
    readonly session: ClientSession,
  ) {
    this.account = { ...account, usage: { ...account.usage } };
  }

  addUsage(quota: string, by: number): void {
    for (const usage of [this.account.usage, this.added]) usage[quota] = (usage[quota] ?? 0) + by;
  }
}

interface Dependencies {
  /** In the order of the plugins. */
  listeners: readonly Listener[];
  quotas: Quotas;
}

/** The transaction of an account, for one actor. */
export class AccountTransaction implements Transaction {
  readonly userId: string;
  readonly session: ClientSession;
  readonly account: Account;
  readonly now: Date;
  readonly revision: number;
  readonly #open: OpenAccount;
  readonly #acting: Acting;
  readonly #dependencies: Dependencies;

  constructor(open: OpenAccount, acting: Acting, dependencies: Dependencies) {
    const { account, session, now } = open;
    this.userId = account.id;
    this.session = session;
    this.account = account;
    this.now = now;
    this.revision = account.revision + 1;
    this.#open = open;
    this.#acting = acting;
    this.#dependencies = dependencies;
  }

  get by(): Author | undefined {
    return this.#acting.by;
  }

  async emit<Payload>(event: DomainEvent<Payload>, payload: Payload): Promise<void> {
    for (const listener of this.#dependencies.listeners) {
      if (listener.event === event) await listener.handle(this, payload);
    }
  }

  consume(quota: string, records: number): void {
    this.#dependencies.quotas.require(this.account, quota, records);
    this.addUsage(quota, records);
  }

  addUsage(quota: string, by: number): void {
    this.#open.addUsage(quota, by);
  }

  audit(act: Act): void {
    this.#open.recorded.push({ time: this.now, act, acting: this.#acting });
  }

  as(acting: Acting): Transaction {
    return new AccountTransaction(this.#open, acting, this.#dependencies);
  }
}
