import { asUuid } from '../../src/core/ids';
import { DAY_MS, HOUR_MS } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import { type Delivery, deliveryModel, type EventName, type Webhook, webhookModel } from './model';

const FIRST_RETRY_MS = 5000;
const LONGEST_RETRY_MS = HOUR_MS;
/** How long finished deliveries are listed. */
const LISTED_MS = 7 * DAY_MS;

type Id = Pick<Webhook, '_id'>;

/** The result of an attempt. */
export interface Outcome {
  /** Null when there was no response. */
  status: number | null;
  /** Why it failed, in a sentence; null when it succeeded. */
  error: string | null;
}

/** Waiting deliveries, in order for each webhook and account. */
export class DeliveryQueue {
  readonly #deliveries;
  readonly #webhooks;

  constructor(host: Host) {
    this.#deliveries = host.model(deliveryModel);
    this.#webhooks = host.model(webhookModel);
  }

  async active(): Promise<Webhook[]> {
    return this.#webhooks.find({ active: true }).lean();
  }

  /** The active webhooks that subscribe to an event. */
  async subscribed(type: EventName): Promise<Webhook[]> {
    return (await this.active()).filter(({ events }) => events.includes(type));
  }

  /** Whether any delivery is due. */
  async isDue(): Promise<boolean> {
    for (const each of await this.active()) {
      if (each.isResumed) return true;
      // The delivery reports the error, and others may be due.
      const found = this.#deliveries.exists(dueFor(each)).exec();
      if (await found.catch(() => true)) return true;
    }
    return false;
  }

  /** The accounts with due deliveries, longest due first. */
  async dueAccounts(webhook: Id, limit: number): Promise<string[]> {
    const found = await this.#deliveries.aggregate<{ _id: string }>([
      { $match: dueFor(webhook) },
      { $group: { _id: '$userId', at: { $min: '$nextAttemptAt' } } },
      { $sort: { at: 1 } },
      { $limit: limit },
    ]);
    return found.map(({ _id }) => _id);
  }

  /** The next deliveries of an account, in order. */
  async next(webhook: Id, userId: string, limit: number): Promise<Delivery[]> {
    const found = this.#deliveries.find({ ...waitingFor(webhook), userId });
    return found.sort({ since: 1, revision: 1, createdAt: 1, _id: 1 }).limit(limit).lean();
  }

  /** Postpones the deliveries of an account to when its first one is due. */
  async postpone(webhook: Id, { userId, nextAttemptAt }: Delivery): Promise<void> {
    const earlier = { ...waitingFor(webhook), userId, nextAttemptAt: { $lt: nextAttemptAt } };
    await this.#deliveries.updateMany(earlier, { $set: { nextAttemptAt } });
  }

  /** Finishes a delivery. */
  async settle(
    { _id }: Delivery,
    status: 'delivered' | 'dropped',
    attempt: Partial<Delivery> = {},
  ): Promise<void> {
    const expiresAt = new Date(Date.now() + LISTED_MS);
    const $set = { ...attempt, status, nextAttemptAt: null, expiresAt };
    const settled = await this.#deliveries.findOneAndUpdate({ _id }, { $set }).lean();
    if (settled?.isLast) await this.#deliveries.deleteOne({ _id });
  }

  /** Records the result of an attempt and, if it failed, schedules the next. */
  async record(webhook: Webhook, delivery: Delivery, { status, error }: Outcome): Promise<void> {
    const now = new Date();
    const attempts = delivery.attempts + 1;
    const attempt = { attempts, lastAttemptAt: now, responseStatus: status, error };
    if (error === null) {
      await this.settle(delivery, 'delivered', attempt);
      await this.#markFailing(webhook, null);
      return;
    }
    delivery.failingSince ??= now;
    const { _id, failingSince } = delivery;
    const backoffMs = Math.min(FIRST_RETRY_MS * 2 ** delivery.attempts, LONGEST_RETRY_MS);
    const nextAttemptAt = new Date(now.getTime() + backoffMs);
    await this.#deliveries.updateOne(
      { _id, status: 'waiting' },
      { $set: { ...attempt, failingSince, nextAttemptAt } },
    );
    await this.#markFailing(webhook, webhook.failingSince ?? now);
  }

  /** Makes all waiting deliveries due, as if none had been attempted. */
  async resume(webhook: Id): Promise<void> {
    const $set = { nextAttemptAt: new Date(), attempts: 0, failingSince: null };
    await this.#deliveries.updateMany(waitingFor(webhook), { $set });
    await this.#webhooks.updateOne({ _id: webhook._id }, { $set: { isResumed: false } });
  }

  /** How many seconds the oldest delivery of all active webhooks has waited. */
  async oldestSeconds(): Promise<number> {
    const now = Date.now();
    const ages = (await this.active()).map(async (webhook) => {
      const oldest = this.#deliveries.findOne(waitingFor(webhook)).sort({ createdAt: 1 });
      const { createdAt = now } = (await oldest.select('createdAt').lean()) ?? {};
      return (now - Number(createdAt)) / 1000;
    });
    return Math.max(0, ...(await Promise.all(ages)));
  }

  async #markFailing(webhook: Webhook, failingSince: Date | null): Promise<void> {
    if (webhook.failingSince === failingSince) return;
    webhook.failingSince = failingSince;
    await this.#webhooks.updateOne({ _id: webhook._id }, { $set: { failingSince } });
  }
}

/** Matches the waiting deliveries of a webhook. */
export function waitingFor({ _id }: Id) {
  return { webhookId: asUuid(_id), status: 'waiting' as const };
}

function dueFor(webhook: Id) {
  return { ...waitingFor(webhook), nextAttemptAt: { $lte: new Date() } };
}
