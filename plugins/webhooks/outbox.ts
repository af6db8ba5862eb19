import type { ClientSession, QueryFilter } from 'mongoose';

import { isBackend } from '../../src/core/identity';
import { anyOf, asUuid, newId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { batchesOf } from '../../src/data/model/batches';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Delivery, deliveryModel, type EventName, type Webhook, webhookModel } from './model';

/** How long waiting deliveries are kept: a webhook that is off may be switched on again. */
const KEPT_MS = 30 * DAY_MS;
/** How many deliveries one command deletes. */
const CHUNK = 1000;

/** An event of an account, and its place among the account's events. */
export type AccountEvent = Pick<Delivery, 'type' | 'userId' | 'since' | 'revision' | 'createdAt'> &
  Partial<Pick<Delivery, 'dayIn'>> & { data: object };

/** A new delivery of an event. */
export function deliveryOf(
  { _id: webhookId }: Pick<Webhook, '_id'>,
  event: AccountEvent,
): Delivery {
  const { data, ...fields } = event;
  const { type, userId, createdAt } = fields;
  const none = { lastAttemptAt: null, responseStatus: null, error: null, failingSince: null };
  return {
    _id: newId(),
    dayIn: null,
    ...fields,
    ...none,
    webhookId: asUuid(webhookId),
    body: JSON.stringify({ type, timestamp: createdAt, data: { userId, ...data } }),
    status: 'waiting',
    attempts: 0,
    nextAttemptAt: createdAt,
    isLast: false,
    expiresAt: new Date(createdAt.getTime() + KEPT_MS),
  };
}

/** An event of a transaction's account that happens in the transaction. */
export function eventOf(tx: Transaction, type: string, data: object): AccountEvent {
  const { userId, account, revision, now: createdAt } = tx;
  return { type, data, userId, since: account.createdAt, revision, createdAt };
}

/** Writes deliveries in the transactions that cause their events. */
export class Outbox {
  readonly #deliveries;
  readonly #webhooks;
  /** Read once in each transaction. */
  readonly #active = new WeakMap<ClientSession, Promise<Webhook[]>>();

  constructor(host: Host) {
    this.#deliveries = host.model(deliveryModel);
    this.#webhooks = host.model(webhookModel);
  }

  /** Records an event of the account of `tx` for each webhook that subscribes to it. */
  async add(tx: Transaction, type: EventName, data: object): Promise<void> {
    if (isBackend(tx.userId)) return;
    const { session } = tx;
    let active = this.#active.get(session);
    if (!active) {
      active = this.#webhooks.find({ active: true }).session(session).lean().exec();
      this.#active.set(session, active);
    }
    const subscribed = (await active).filter(({ events }) => events.includes(type));
    if (subscribed.length === 0) return;
    const event = eventOf(tx, type, data);
    await this.#deliveries.bulkWrite(
      subscribed.map((each) => ({ insertOne: { document: deliveryOf(each, event) } })),
      { session },
    );
  }

  /** How many deliveries an account has, without those that outlive it. */
  count(userId: string): Promise<number> {
    return this.#deliveries.countDocuments(ofAccount(userId)).exec();
  }

  async *export(userId: string): AsyncGenerator<object[]> {
    for await (const batch of batchesOf(this.#deliveries.find(ofAccount(userId)).lean())) {
      yield batch.map(({ body, status }) => ({ body: JSON.parse(body) as object, status }));
    }
  }

  /** Deletes the finished deliveries of a closed account, and the waiting ones once delivered. */
  async erase(userId: string): Promise<void> {
    const all = ofAccount(userId);
    await this.#deliveries.updateMany({ ...all, status: 'waiting' }, { $set: { isLast: true } });
    while ((await this.deleteSome(all)) > 0);
  }

  /** Deletes the oldest deliveries that match, at most {@link CHUNK}; returns how many. */
  async deleteSome(filter: QueryFilter<Delivery>, limit = CHUNK): Promise<number> {
    const found = this.#deliveries.find(filter).select('_id').sort({ createdAt: 1 });
    const ids = (await found.limit(Math.min(limit, CHUNK)).lean()).map(({ _id }) => _id);
    return (await this.#deliveries.deleteMany({ _id: anyOf(ids) })).deletedCount;
  }
}

function ofAccount(userId: string) {
  return { userId, isLast: false, type: { $ne: 'account.deleted' } };
}
