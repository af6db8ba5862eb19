import type { ClientSession, QueryFilter } from 'mongoose';

import { isBackend } from '../../src/core/identity';
import { anyOf, asUuid, newId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { batchesOf } from '../../src/data/model/batches';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Delivery, deliveryModel, type EventName, type Webhook, webhookModel } from './model';

/** How long what could not be delivered is kept, for a webhook that may be switched on again. */
const KEPT_MS = 30 * DAY_MS;
/** How many are deleted in one command. */
const CHUNK = 1000;

/** Something that happened to an account, and where it stands among all that does. */
type Happening = Pick<Delivery, 'type' | 'userId' | 'since' | 'revision' | 'createdAt'> &
  Partial<Pick<Delivery, 'dayIn'>> & { data: object };

/** A delivery that waits from now on. */
export function deliveryOf(
  { _id: webhookId }: Pick<Webhook, '_id'>,
  happening: Happening,
): Delivery {
  const { data, ...fields } = happening;
  const { type, userId, createdAt } = fields;
  const none = { lastAttemptAt: null, responseStatus: null, error: null, failingSince: null };
  return {
    ...{ _id: newId(), dayIn: null, ...fields, ...none, webhookId: asUuid(webhookId) },
    body: JSON.stringify({ type, timestamp: createdAt, data: { userId, ...data } }),
    ...{ status: 'waiting', attempts: 0, nextAttemptAt: createdAt, isLast: false },
    expiresAt: new Date(createdAt.getTime() + KEPT_MS),
  };
}

/** What happened to the account of a transaction in it. */
export function happeningIn(tx: Transaction, type: string, data: object): Happening {
  const { userId, account, revision, now: createdAt } = tx;
  return { type, data, userId, since: account.createdAt, revision, createdAt };
}

/** What webhooks are to be told, written in the transaction of its cause. */
export class Outbox {
  readonly #deliveries;
  readonly #webhooks;
  /** Read once in a transaction, whatever it has to tell. */
  readonly #active = new WeakMap<ClientSession, Promise<Webhook[]>>();

  constructor(host: Host) {
    this.#deliveries = host.model(deliveryModel);
    this.#webhooks = host.model(webhookModel);
  }

  /** Has the webhooks that want to know be told what happened to the account of `tx`. */
  async add(tx: Transaction, type: EventName, data: object): Promise<void> {
    if (isBackend(tx.userId)) return;
    const { session } = tx;
    let active = this.#active.get(session);
    if (!active) {
      active = this.#webhooks.find({ active: true }).session(session).lean().exec();
      this.#active.set(session, active);
    }
    const told = (await active).filter(({ events }) => events.includes(type));
    if (told.length === 0) return;
    const happening = happeningIn(tx, type, data);
    await this.#deliveries.bulkWrite(
      told.map((each) => ({ insertOne: { document: deliveryOf(each, happening) } })),
      { session },
    );
  }

  /** How many deliveries are about an account, but for those that outlive it. */
  count(userId: string): Promise<number> {
    return this.#deliveries.countDocuments(ofAccount(userId)).exec();
  }

  async *export(userId: string): AsyncGenerator<object[]> {
    for await (const batch of batchesOf(this.#deliveries.find(ofAccount(userId)).lean())) {
      yield batch.map(({ body, status }) => ({ body: JSON.parse(body) as object, status }));
    }
  }

  /** Deletes what is over of an account that is closed, and the rest once it is delivered. */
  async erase(userId: string): Promise<void> {
    const all = ofAccount(userId);
    await this.#deliveries.updateMany({ ...all, status: 'waiting' }, { $set: { isLast: true } });
    while ((await this.deleteSome(all)) > 0);
  }

  /** Deletes the oldest that match, a chunk of them at most; answers how many. */
  async deleteSome(filter: QueryFilter<Delivery>, limit = CHUNK): Promise<number> {
    const found = this.#deliveries.find(filter).select('_id').sort({ createdAt: 1 });
    const ids = (await found.limit(Math.min(limit, CHUNK)).lean()).map(({ _id }) => _id);
    return (await this.#deliveries.deleteMany({ _id: anyOf(ids) })).deletedCount;
  }
}

function ofAccount(userId: string) {
  return { userId, isLast: false, type: { $ne: 'account.deleted' } };
}
