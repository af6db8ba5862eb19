import { randomBytes } from 'node:crypto';

import { hashOf } from '../../src/core/identity';
import { accountTarget } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { KeptData } from '../accounts';
import { calendarModel } from './model';

/** Too many to guess. */
const SECRET_BYTES = 24;

/** Calendar addresses, at most one per account. */
export class Calendars {
  readonly #model;

  constructor(host: Host) {
    this.#model = host.model(calendarModel);
  }

  /** Creates an address, which replaces the previous one; returns its secret. */
  async make(tx: Transaction): Promise<string> {
    const { session, userId, now } = tx;
    await this.#model.deleteMany({ userId }, { session });
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const document = { _id: hashOf(secret), userId, createdAt: now };
    await this.#model.create([document], { session });
    tx.audit({ action: 'calendar.created', target: accountTarget(userId) });
    return secret;
  }

  /** Deletes the address, if there is one. */
  async end(tx: Transaction): Promise<void> {
    const { session, userId } = tx;
    const { deletedCount } = await this.#model.deleteMany({ userId }, { session });
    if (deletedCount === 0) return;
    tx.audit({ action: 'calendar.deleted', target: accountTarget(userId) });
  }

  /** The account whose calendar has this secret. */
  async ownerOf(secret: string): Promise<string | undefined> {
    return (await this.#model.findOne({ _id: hashOf(secret) }).lean())?.userId;
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
    yield await this.#model.find({ userId }, { _id: 0, createdAt: 1 }).lean();
  }
}
