import { randomBytes } from 'node:crypto';

import type { ClientSession } from 'mongoose';

import { boundGarden } from '../../src/core/gardens';
import { type Account, type Garden, hashOf } from '../../src/core/identity';
import { accountTarget, type Act } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { Accounts, KeptData } from '../accounts';
import { calendarModel } from './model';

/** Too many to guess. */
const SECRET_BYTES = 24;

/** The garden of another, if that is what an address shows. */
type Shared = Garden | undefined;

/** Calendar addresses, at most one of each garden per account. */
export class Calendars {
  readonly #model;
  readonly #host: Host;
  readonly #accounts: Accounts;

  constructor(host: Host, accounts: Accounts) {
    this.#host = host;
    this.#accounts = accounts;
    this.#model = host.model(calendarModel);
  }

  /** Creates an address, which replaces the previous one; returns its secret. */
  async make(tx: Transaction, shared: Shared): Promise<string> {
    const { session, userId, now } = tx;
    const owner = shared?.account.id;
    await this.#remove(session, userId, owner);
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const garden = shared && { owner: shared.account.id, member: shared.by.id };
    const document = { _id: hashOf(secret), userId, ...(garden && { garden }), createdAt: now };
    await this.#model.create([document], { session });
    tx.audit({ action: 'calendar.created', ...actOn(userId, owner) });
    return secret;
  }

  /** Deletes the address, if there is one. */
  async end(tx: Transaction, shared: Shared): Promise<void> {
    const { session, userId } = tx;
    const owner = shared?.account.id;
    if ((await this.#remove(session, userId, owner)) === 0) return;
    tx.audit({ action: 'calendar.deleted', ...actOn(userId, owner) });
  }

  /** Deletes the address of a garden that a person may not open any more. */
  async forget({ session }: Transaction, person: string, owner: string): Promise<void> {
    await this.#remove(session, person, owner);
  }

  /** The account whose garden the calendar of a secret shows, if it is open to its reader. */
  async accountOf(secret: string): Promise<Account | undefined> {
    const found = await this.#model.findOne({ _id: hashOf(secret) }).lean();
    if (!found?.garden) return found ? this.#accounts.account(found.userId) : undefined;
    const shared = await boundGarden(found.garden, found.userId, this.#host.gardens());
    return shared?.account;
  }

  async #remove(session: ClientSession, userId: string, owner: string | undefined) {
    const found = { userId, 'garden.owner': owner ?? null };
    return (await this.#model.deleteMany(found, { session })).deletedCount;
  }

  /** What is exported and deleted with an account. */
  get kept(): KeptData {
    return {
      name: 'calendars',
      count: (userId) => this.#model.countDocuments({ userId }).exec(),
      export: (userId) => this.#export(userId),
      delete: async ({ session, userId }) => {
        await this.#model.deleteMany({ userId }, { session });
      },
    };
  }

  async *#export(userId: string): AsyncGenerator<object[]> {
    const found = await this.#model.find({ userId }, { _id: 0, createdAt: 1, garden: 1 }).lean();
    yield found.map(({ createdAt, garden }) => ({
      createdAt,
      ...(garden && { garden: garden.owner }),
    }));
  }
}

function actOn(userId: string, owner: string | undefined): Omit<Act, 'action'> {
  const target = accountTarget(userId);
  return owner === undefined ? { target } : { target, changes: { garden: owner } };
}
