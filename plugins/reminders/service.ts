import type { ClientSession } from 'mongoose';

import { gardenNotFound } from '../../src/core/errors';
import type { HeldToken } from '../../src/core/identity';
import { idText, newId } from '../../src/core/ids';
import type { Act } from '../../src/data/audit/entry';
import type { Tenant } from '../../src/data/model/models';
import { LIST_ORDER } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { KeptData } from '../accounts';
import { type Deliveries, newSigningSecret } from '../deliveries';
import type { MailService } from '../mail';
import type { Memberships } from '../members';
import { CHANGED, type ChangesOfAccounts } from '../webhooks';
import {
  DUE,
  emailNotAvailable,
  emailNotConfirmed,
  MAX_REMINDERS,
  reminder,
  type Reminder,
  reminderLimitReached,
  reminderModel,
  reminderNotFound,
} from './model';
import type { CreateReminder } from './schema';
import { targetOf } from './target';

interface Dependencies {
  host: Host;
  deliveries: Deliveries;
  mail: MailService;
  members: Memberships;
  changes: ChangesOfAccounts;
}

type Bound = Pick<HeldToken, 'garden'>;

/** Matches the reminders that a token may see and change: one that is bound to a garden, only those about that garden. */
function openTo({ garden }: Bound) {
  return garden && { garden: null };
}

/** Reminders as their people manage them. */
export class Reminders {
  readonly #model;
  readonly #poster: Deliveries['poster'];
  readonly #mail: MailService;
  readonly #members: Memberships;
  readonly #changes: ChangesOfAccounts;

  constructor({ host, deliveries, mail, members, changes }: Dependencies) {
    this.#model = host.model(reminderModel);
    this.#poster = deliveries.poster;
    this.#mail = mail;
    this.#members = members;
    this.#changes = changes;
  }

  /** Oldest first. */
  async list(userId: string, token: Bound) {
    const found = await this.#model
      .find({ userId, ...openTo(token) })
      .sort(LIST_ORDER)
      .lean();
    return found.map((each) => reminder.toView(each));
  }

  /** How many remind a person. */
  countActive({ userId, session }: Tenant): Promise<number> {
    const found = this.#model.countDocuments({ userId, active: true, events: DUE });
    return found.session(session ?? null).exec();
  }

  /**
   * Sets a reminder. Where it needs no secret, one to the same place is switched on instead.
   *
   * @throws ApiError reminder_limit_reached, email_not_available, email_not_confirmed, garden_not_found or
   *   validation_error
   */
  async create(tx: Transaction, token: Bound, body: CreateReminder) {
    const { userId, session, now, account } = tx;
    const target = targetOf(body, this.#poster);
    if (body.channel === 'email') await this.#requireAddress(tx);
    const garden = body.garden === userId ? null : (body.garden ?? null);
    if (token.garden && garden !== null) throw gardenNotFound.error();
    await this.#requireMember(tx, garden);
    const made = reminder.toDocument(
      {},
      {
        _id: newId(),
        userId,
        channel: body.channel,
        garden,
        active: true,
        createdAt: now,
        secret: body.channel === 'url' ? newSigningSecret() : null,
        events: body.events ?? [DUE],
        timezone: account.timezone,
        remindAt: account.remindAt,
        ...target,
      },
    );
    const all = await this.#model.find({ userId }).session(session).lean();
    const same = all.find(
      (each) =>
        each.secret === null &&
        each.channel === made.channel &&
        each.garden === garden &&
        each.url === made.url,
    );
    if (same) return { ...(await this.#switchOn(tx, same, target)), secret: null };
    if (all.length >= MAX_REMINDERS) await this.#makeRoom(tx, all);
    await this.#model.bulkWrite([{ insertOne: { document: made } }], { session });
    if (made.events.includes(CHANGED)) await this.#changes.begin(tx, made._id);
    // Without its address, which lets others send to it.
    tx.audit(actOn(made, 'created', { channel: made.channel, garden }));
    return { ...reminder.toView(made), secret: made.secret };
  }

  /** @throws ApiError reminder_not_found, garden_not_found if it is not shared any more */
  async change(tx: Transaction, token: Bound, id: string, { active }: { active?: boolean }) {
    const found = await this.find(tx, id, token);
    if (!found) throw reminderNotFound.error();
    if (active === true) {
      await this.#requireMember(tx, found.garden);
      return this.#switchOn(tx, found);
    }
    if (active === undefined || !found.active) return reminder.toView(found);
    await this.#model.updateOne({ _id: found._id }, { $set: { active } }, { session: tx.session });
    tx.audit(actOn(found, 'changed', { active }));
    return reminder.toView({ ...found, active });
  }

  /** @throws ApiError reminder_not_found */
  async delete(tx: Transaction, token: Bound, id: string): Promise<void> {
    const { session, userId } = tx;
    const one = { _id: id, userId, ...openTo(token) };
    const deleted = await this.#model.findOneAndDelete(one, { session }).lean();
    if (!deleted) throw reminderNotFound.error();
    tx.audit(actOn(deleted, 'deleted'));
  }

  /** One of a person, if it is open to the token. */
  find(
    { userId, session }: Tenant,
    _id: Reminder['_id'] | string,
    token: Bound = {},
  ): Promise<Reminder | null> {
    const found = this.#model.findOne({ _id, userId, ...openTo(token) });
    return found
      .session(session ?? null)
      .lean()
      .exec();
  }

  /** Sends reminders at another time from now on. */
  async move({ session, userId }: Transaction, to: Pick<Reminder, 'timezone' | 'remindAt'>) {
    await this.#model.updateMany({ userId }, { $set: to }, { session });
  }

  /** Deletes those of a person about a garden that is not shared with them any more. */
  async end(session: ClientSession, userId: string, garden: string): Promise<void> {
    await this.#model.deleteMany({ userId, garden }, { session });
  }

  /** What is exported and deleted with an account. */
  get kept(): KeptData {
    return {
      name: 'reminders',
      count: (userId) => this.#model.countDocuments({ userId }).exec(),
      export: (userId) => this.#export(userId),
      delete: async ({ session, userId }) => {
        await this.#model.deleteMany({ userId }, { session });
      },
    };
  }

  async *#export(userId: string): AsyncGenerator<object[]> {
    const found = await this.#model.find({ userId }).sort(LIST_ORDER).lean();
    yield found.map((each) => ({ ...reminder.toView(each), url: each.url, events: each.events }));
  }

  async #switchOn(tx: Transaction, found: Reminder, target: Partial<Reminder> = {}) {
    const $set = { ...target, active: true, failingSince: null, problem: null };
    await this.#model.updateOne({ _id: found._id }, { $set }, { session: tx.session });
    if (found.events.includes(CHANGED)) await this.#changes.begin(tx, found._id);
    if (!found.active) tx.audit(actOn(found, 'changed', { active: true }));
    return reminder.toView({ ...found, ...$set });
  }

  /** Deletes a reminder on a device that receives none any more. @throws ApiError reminder_limit_reached */
  async #makeRoom({ session }: Transaction, all: readonly Reminder[]): Promise<void> {
    const gone = all.find(
      ({ channel, active, problem }) => channel === 'push' && !active && problem,
    );
    if (!gone) throw reminderLimitReached.error();
    await this.#model.deleteOne({ _id: gone._id }, { session });
  }

  /** @throws ApiError email_not_available, email_not_confirmed */
  async #requireAddress({ userId, session }: Transaction): Promise<void> {
    if (!this.#mail.mailer) throw emailNotAvailable.error();
    if (!(await this.#mail.addresses.of(userId, session))) throw emailNotConfirmed.error();
  }

  /** @throws ApiError garden_not_found */
  async #requireMember({ userId, session }: Transaction, garden: string | null): Promise<void> {
    if (garden === null || (await this.#members.isMember(garden, userId, session))) return;
    throw gardenNotFound.error();
  }
}

/** An act on a reminder, for the audit log. */
export function actOn({ _id }: Reminder, what: string, changes: Act['changes'] = {}): Act {
  return { action: `reminder.${what}`, target: { type: 'reminder', id: idText(_id) }, changes };
}
