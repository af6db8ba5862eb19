import type { Model } from 'mongoose';

import { asUuid, type StoredId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { Channel, Lane, Outcome } from './channel';
import type { Delivery } from './model';

const FIRST_PAUSE_MS = 5000;
/** How long finished deliveries are kept. */
const KEPT_MS = 7 * DAY_MS;

type Id = Pick<Lane, '_id'>;

/** Whose deliveries are sent in order. */
export interface Recipient {
  /** The account that the deliveries are about. */
  userId: string;
  destinationId?: StoredId | null;
}

/** Waiting deliveries, in order for each recipient. */
export class DeliveryQueue {
  readonly #deliveries;

  constructor(deliveries: Model<Delivery>) {
    this.#deliveries = deliveries;
  }

  /** Whether any delivery of a lane is due. */
  async isDue(lane: Lane): Promise<boolean> {
    if (lane.isResumed) return true;
    // The delivery reports the error, and others may be due.
    const found = this.#deliveries.exists(dueFor(lane)).exec();
    return (await found.catch(() => true)) !== null;
  }

  /** Whose deliveries are due, longest due first. */
  async due(lane: Id, limit: number): Promise<Recipient[]> {
    const found = await this.#deliveries.aggregate<{ _id: Recipient }>([
      { $match: dueFor(lane) },
      {
        $group: {
          _id: { userId: '$userId', destinationId: '$destinationId' },
          at: { $min: '$nextAttemptAt' },
        },
      },
      { $sort: { at: 1 } },
      { $limit: limit },
    ]);
    return found.map(({ _id }) => _id);
  }

  /** The next deliveries of a recipient, in order. */
  async next(lane: Id, recipient: Recipient, limit: number): Promise<Delivery[]> {
    const found = this.#deliveries.find(waitingOf(lane, recipient));
    return found.sort({ since: 1, revision: 1, createdAt: 1, _id: 1 }).limit(limit).lean();
  }

  /** Postpones the deliveries of a recipient to when the first one is due. */
  async postpone(lane: Id, first: Delivery): Promise<void> {
    const { nextAttemptAt } = first;
    const earlier = { ...waitingOf(lane, first), nextAttemptAt: { $lt: nextAttemptAt } };
    await this.#deliveries.updateMany(earlier, { $set: { nextAttemptAt } });
  }

  /** Finishes a delivery. */
  async settle(
    { keptMs = KEPT_MS }: Channel,
    { _id }: Delivery,
    status: 'delivered' | 'dropped',
    attempt: Partial<Delivery> = {},
  ): Promise<void> {
    const expiresAt = new Date(Date.now() + keptMs);
    const $set = { ...attempt, status, nextAttemptAt: null, expiresAt };
    const settled = await this.#deliveries.findOneAndUpdate({ _id }, { $set }).lean();
    if (settled?.isLast) await this.#deliveries.deleteOne({ _id });
  }

  /** Records the result of an attempt and, if it failed, schedules the next. */
  async record(
    channel: Channel,
    lane: Id,
    delivery: Delivery,
    { status, error }: Outcome,
  ): Promise<void> {
    const now = new Date();
    const attempts = delivery.attempts + 1;
    const attempt = { attempts, lastAttemptAt: now, responseStatus: status, error };
    if (delivery.spacedMs) await this.#space(lane, delivery, delivery.spacedMs);
    if (error === null) {
      await this.settle(channel, delivery, 'delivered', attempt);
      return;
    }
    delivery.failingSince ??= now;
    const { _id, failingSince } = delivery;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** delivery.attempts, channel.longestPauseMs);
    const nextAttemptAt = new Date(now.getTime() + pauseMs);
    await this.#deliveries.updateOne(
      { _id, status: 'waiting' },
      { $set: { ...attempt, failingSince, nextAttemptAt } },
    );
  }

  async #space(lane: Id, { _id, type, ...recipient }: Delivery, ms: number): Promise<void> {
    const others = { ...waitingOf(lane, recipient), type, _id: { $ne: asUuid(_id) } };
    const $max = { nextAttemptAt: new Date(Date.now() + ms) };
    await this.#deliveries.updateMany(others, { $max });
  }

  /** Makes all waiting deliveries due, as if none had been attempted. */
  async resume(lane: Id): Promise<void> {
    const $set = { nextAttemptAt: new Date(), attempts: 0, failingSince: null };
    await this.#deliveries.updateMany(waitingFor(lane), { $set });
  }

  /** How many seconds the oldest waiting delivery of some lanes has waited. */
  async oldestSeconds(lanes: readonly Id[]): Promise<number> {
    const now = Date.now();
    const ages = lanes.map(async (lane) => {
      const oldest = this.#deliveries.findOne(waitingFor(lane)).sort({ createdAt: 1 });
      const { createdAt = now } = (await oldest.select('createdAt').lean()) ?? {};
      return (now - Number(createdAt)) / 1000;
    });
    return Math.max(0, ...(await Promise.all(ages)));
  }
}

/** Matches the waiting deliveries of a lane. */
export function waitingFor({ _id }: Id) {
  return { webhookId: asUuid(_id), status: 'waiting' as const };
}

function waitingOf(lane: Id, { userId, destinationId = null }: Recipient) {
  return {
    ...waitingFor(lane),
    userId,
    destinationId: destinationId && asUuid(destinationId),
  };
}

function dueFor(lane: Id) {
  return { ...waitingFor(lane), nextAttemptAt: { $lte: new Date() } };
}
