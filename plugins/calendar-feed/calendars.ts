import { randomBytes } from 'node:crypto';

import { hashOf } from '../../src/core/secrets';
import { accountTarget } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { KeptData } from '../accounts';
import { calendarModel } from './model';

/** Enough that nobody guesses one. */
const SECRET_BYTES = 24;

/** The addresses at which accounts can be read as calendars: one each. */
export class Calendars {
  readonly #model;

  constructor(host: Host) {
    this.#model = host.model(calendarModel);
  }

  /** Makes an address in place of the one that there was; answers its secret, this once. */
  async make(tx: Transaction): Promise<string> {
    const { session, userId, now } = tx;
    await this.#model.deleteMany({ userId }, { session });
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const document = { _id: hashOf(secret), userId, createdAt: now };
    await this.#model.create([document], { session });
    tx.audit({ action: 'calendar.created', target: accountTarget(userId) });
    return secret;
  }

  /** Ends the address, where there is one. */
  async end(tx: Transaction): Promise<void> {
    const { session, userId } = tx;
    const { deletedCount } = await this.#model.deleteMany({ userId }, { session });
    if (deletedCount === 0) return;
    tx.audit({ action: 'calendar.deleted', target: accountTarget(userId) });
  }

  /** Whose calendar a secret opens. */
  async ownerOf(secret: string): Promise<string | undefined> {
    return (await this.#model.findOne({ _id: hashOf(secret) }).lean())?.userId;
  }

  /** What goes with the account. */
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
