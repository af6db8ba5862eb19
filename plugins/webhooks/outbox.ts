import type { ClientSession } from 'mongoose';

import { isBackend } from '../../src/core/identity';
import { asUuid } from '../../src/core/ids';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Deliveries, type Delivery, eventBody, newDelivery } from '../deliveries';
import { type EventName, type Webhook, webhookModel } from './model';

/** An event of an account, and its place among the account's events. */
export type AccountEvent = Pick<Delivery, 'type' | 'userId' | 'since' | 'revision' | 'createdAt'> &
  Partial<Pick<Delivery, 'dayIn' | 'spacedMs'>> & { data: object };

/** A new delivery of an event. */
export function deliveryOf(
  { _id }: Pick<Webhook, '_id'>,
  { data, ...event }: AccountEvent,
): Delivery {
  return newDelivery({ ...event, webhookId: asUuid(_id), body: eventBody(event, data) });
}

/** An event of a transaction's account that happens in the transaction. */
export function eventOf(tx: Transaction, type: string, data: object): AccountEvent {
  const { userId, account, revision, now: createdAt } = tx;
  return { type, data, userId, since: account.createdAt, revision, createdAt };
}

/** Writes deliveries in the transactions that cause their events. */
export class Outbox {
  readonly #deliveries: Deliveries;
  readonly #webhooks;
  /** Read once in each transaction. */
  readonly #active = new WeakMap<ClientSession, Promise<Webhook[]>>();

  constructor(host: Host, deliveries: Deliveries) {
    this.#deliveries = deliveries;
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
    await this.#deliveries.insert(
      session,
      subscribed.map((each) => deliveryOf(each, event)),
    );
  }
}
