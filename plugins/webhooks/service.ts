import type { ClientSession } from 'mongoose';

import { fieldError } from '../../src/core/errors';
import { type Account, unlessGone } from '../../src/core/identity';
import { asUuid, idText, newId, type StoredId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { Act } from '../../src/data/audit/entry';
import type { Tenant } from '../../src/data/model/models';
import { decodeCursor, encodeCursor, pageOf } from '../../src/data/page';
import { LIST_ORDER } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import type { PageQuery } from '../../src/fields/page';
import type { Host } from '../../src/plugins/host';
import { type Deliveries, delivery, newSigningSecret } from '../deliveries';
import { type AccountChanges, changeOf, type Told } from './account-changes';
import {
  CHANGED,
  type CreateWebhook,
  deliveryNotFound,
  type EventName,
  type InactiveReason,
  MAX_WEBHOOKS,
  TEST,
  type UpdateWebhook,
  webhook,
  type Webhook,
  webhookLimitReached,
  webhookModel,
  webhookNotFound,
} from './model';
import { deliveryOf, eventOf } from './outbox';
import { SAMPLES } from './samples';

/** Webhooks as their backend manages them. */
export class Webhooks {
  readonly #webhooks;
  readonly #changes: AccountChanges;
  readonly #deliveries: Deliveries;
  readonly #host: Host;

  constructor(host: Host, deliveries: Deliveries, changes: AccountChanges) {
    this.#host = host;
    this.#deliveries = deliveries;
    this.#webhooks = host.model(webhookModel);
    this.#changes = changes;
    changes.subscribe({
      areAny: (...apart) => this.#areToldOfChanges(...apart),
      told: (changed) => this.#told(changed),
    });
  }

  /** The webhooks that are on. */
  async active(): Promise<Webhook[]> {
    return this.#webhooks.find({ active: true }).lean();
  }

  /** Those that subscribe to an event. */
  async subscribed(type: EventName): Promise<Webhook[]> {
    return (await this.active()).filter(({ events }) => events.includes(type));
  }

  /** The webhooks of a backend, oldest first. */
  async list(userId: string) {
    const found = await this.#webhooks.find({ userId }).sort(LIST_ORDER).lean();
    return found.map((each) => webhook.toView(each));
  }

  count({ userId, session }: Tenant): Promise<number> {
    return this.#webhooks
      .countDocuments({ userId })
      .session(session ?? null)
      .exec();
  }

  /** @throws ApiError webhook_limit_reached, validation_error for a URL that is not allowed */
  async create(tx: Transaction, body: CreateWebhook) {
    const { userId, session, now } = tx;
    this.#requireAllowed(body.url);
    if ((await this.count(tx)) >= MAX_WEBHOOKS) throw webhookLimitReached.error();
    const made = webhook.toDocument(body, {
      _id: newId(),
      userId,
      createdAt: now,
      isResumed: false,
      secret: newSigningSecret(),
      inactiveReason: body.active ? null : 'paused',
    });
    await this.#webhooks.bulkWrite([{ insertOne: { document: made } }], { session });
    if (isToldOfChanges(made)) await this.#changes.begin(tx, made._id);
    // Without its URL, which may contain a secret.
    tx.audit(actOn(made, 'created', { events: body.events }));
    return { ...webhook.toView(made), secret: made.secret };
  }

  /** @throws ApiError webhook_not_found, validation_error for a URL that is not allowed */
  async change(tx: Transaction, id: string, { active, url, events }: UpdateWebhook) {
    if (url !== undefined) this.#requireAllowed(url);
    const found = await this.#get(tx, id);
    const isMoved = url !== undefined && url !== found.url;
    // One that is off keeps its reason; one that is on has its waiting deliveries sent at once.
    const isSwitched = active !== undefined && (active || found.active);
    const $set = {
      ...(isMoved && { url, failingSince: null, isResumed: true }),
      ...(events && { events }),
      ...(isSwitched && switched(active)),
    };
    const changed = { ...found, ...$set };
    if (Object.keys($set).length === 0) return webhook.toView(found);
    await this.#webhooks.updateOne({ _id: found._id }, { $set }, { session: tx.session });
    if (isToldOfChanges(changed) && !isToldOfChanges(found)) {
      await this.#changes.begin(tx, found._id);
    }
    const changes = {
      ...(isMoved && { url: 'another' }),
      ...(events && events.join() !== found.events.join() && { events }),
      ...(changed.active !== found.active && { active: changed.active }),
    };
    if (Object.keys(changes).length > 0) tx.audit(actOn(found, 'changed', changes));
    return webhook.toView(changed);
  }

  /**
   * Makes a new secret. Deliveries are signed with the one before, too, for a day.
   *
   * @throws ApiError webhook_not_found
   */
  async rotate(tx: Transaction, id: string) {
    const found = await this.#get(tx, id);
    const $set = {
      secret: newSigningSecret(),
      previousSecret: found.secret,
      previousUntil: new Date(tx.now.getTime() + DAY_MS),
    };
    await this.#webhooks.updateOne({ _id: found._id }, { $set }, { session: tx.session });
    tx.audit(actOn(found, 'secret_rotated'));
    return { ...webhook.toView(found), secret: $set.secret };
  }

  /** @throws ApiError webhook_not_found */
  async delete(tx: Transaction, id: string): Promise<void> {
    const { session } = tx;
    tx.audit(actOn(await this.#get(tx, id), 'deleted'));
    await this.#webhooks.deleteOne({ _id: id }, { session });
  }

  /** Deletes the webhooks of a closed account. */
  async deleteAll({ session, userId }: Transaction): Promise<void> {
    await this.#webhooks.deleteMany({ userId }, { session });
  }

  /**
   * Sends a test event, or a sample of another; it waits while the webhook is off. One that still waits is sent
   * again.
   *
   * @throws ApiError webhook_not_found
   */
  async test(tx: Transaction, id: string, type: EventName | typeof TEST = TEST) {
    const found = await this.#get(tx, id);
    const { session, userId } = tx;
    // A backend has no deliveries but tests.
    const about = { userId, type };
    const waiting = await this.#deliveries.hasten(session, found, about, tx.now);
    if (waiting) return delivery.toView(waiting);
    const data = type === TEST ? { webhookId: id } : SAMPLES[type];
    const made = deliveryOf(found, eventOf(tx, type, data));
    await this.#deliveries.insert(session, [made]);
    return delivery.toView(made);
  }

  /**
   * A page of the deliveries of a webhook, newest first.
   *
   * @throws ApiError webhook_not_found, invalid_cursor
   */
  async deliveries(tenant: Tenant, id: string, { limit, cursor }: PageQuery) {
    const which = await this.#get(tenant, id);
    const list = [tenant.userId, '/api/webhooks/{id}/deliveries', id.toLowerCase()] as const;
    const after = cursor === undefined ? undefined : decodeCursor(list, cursor);
    const found = await this.#deliveries.list(which, after, limit + 1);
    return pageOf(
      { found, limit },
      async function* (deliveries) {
        yield Array.from(deliveries, (each) => delivery.toView(each));
      },
      ({ createdAt, _id }) => encodeCursor(list, { moment: createdAt, id: _id }),
    );
  }

  /** Sends a delivery again. @throws ApiError webhook_not_found, delivery_not_found */
  async redeliver(tx: Transaction, id: string, deliveryId: string) {
    const found = await this.#get(tx, id);
    const repeated = await this.#deliveries.repeat(tx.session, found, deliveryId, tx.now);
    if (!repeated) throw deliveryNotFound.error();
    return delivery.toView(repeated);
  }

  /** Switches off a webhook that is on. */
  async switchOff(which: Webhook, reason: InactiveReason): Promise<void> {
    which.active = false;
    const isOn = { _id: which._id, active: true };
    const $set = switched(false, reason);
    const work = this.#host.transact(which.userId, async (tx) => {
      const { session } = tx;
      const { modifiedCount } = await this.#webhooks.updateOne(isOn, { $set }, { session });
      if (modifiedCount > 0) tx.audit(actOn(which, 'switched_off', { reason }));
    });
    await unlessGone(work);
    this.#host.log.warn({ webhook: idText(which._id), reason }, 'A webhook was switched off');
  }

  #requireAllowed(url: string): void {
    const fault = this.#deliveries.poster.faultOf(url);
    if (fault !== undefined) throw fieldError('url', `url ${fault}.`);
  }

  async #areToldOfChanges(session?: ClientSession, except?: StoredId): Promise<boolean> {
    const apart = except && { _id: { $ne: asUuid(except) } };
    const found = this.#webhooks.exists({ active: true, events: CHANGED, ...apart });
    return (await found.session(session ?? null)) !== null;
  }

  async #told(changed: readonly Account[]): Promise<Told[]> {
    const subscribed = await this.subscribed(CHANGED);
    if (subscribed.length === 0) return [];
    return changed.map((account) => ({
      userId: account.id,
      deliveries: subscribed.map(({ _id }) => changeOf(_id, account)),
      through: this.#deliveries,
    }));
  }

  async #get({ userId, session }: Tenant, id: string): Promise<Webhook> {
    const query = this.#webhooks.findOne({ userId, _id: id });
    const found = await query.session(session ?? null).lean();
    if (!found) throw webhookNotFound.error();
    return found;
  }
}

function isToldOfChanges({ active, events }: Webhook): boolean {
  return active && events.includes(CHANGED);
}

function switched(active: boolean, reason: InactiveReason = 'paused') {
  return active
    ? { active, inactiveReason: null, failingSince: null, isResumed: true }
    : { active, inactiveReason: reason };
}

function actOn({ _id }: Webhook, what: string, changes: Act['changes'] = {}): Act {
  return { action: `webhook.${what}`, target: { type: 'webhook', id: idText(_id) }, changes };
}
