import type { AnyBulkWriteOperation, ClientSession, QueryFilter } from 'mongoose';

import { anyOf, asUuid, idText, type StoredId, toStoredId } from '../../src/core/ids';
import type { Reading } from '../../src/core/metrics';
import { batchesOf } from '../../src/data/model/batches';
import { inRange, newestFirst, type Position } from '../../src/data/page';
import type { Host } from '../../src/plugins/host';
import type { Channel, Lane } from './channel';
import type { Dispatcher } from './dispatcher';
import { type Delivery, type deliveryModel, keptUntil } from './model';
import type { Poster } from './poster';
import { DeliveryQueue, waitingFor } from './queue';

/** How many deliveries one command deletes. */
const CHUNK = 1000;

type Id = Pick<Lane, '_id'>;

/** Stored deliveries, and the channels that send them. */
export class Deliveries {
  readonly poster: Poster;
  readonly #dispatcher: Dispatcher;
  readonly #deliveries;

  constructor(
    host: Host,
    model: typeof deliveryModel,
    { dispatcher, poster }: { dispatcher: Dispatcher; poster: Poster },
  ) {
    this.poster = poster;
    this.#dispatcher = dispatcher;
    this.#deliveries = host.model(model);
  }

  /** Sends the deliveries of a channel from now on; returns its metrics. */
  open(channel: Channel): Reading[] {
    return this.#dispatcher.open(channel, new DeliveryQueue(this.#deliveries));
  }

  /** Adds new deliveries in the transaction that causes them. */
  async insert(session: ClientSession, deliveries: readonly Delivery[]): Promise<void> {
    const writes = deliveries.map((document) => ({ insertOne: { document } }));
    await this.#deliveries.bulkWrite(writes, { session });
  }

  /** Adds those of some deliveries whose ids are new. */
  async insertMissing(deliveries: readonly Delivery[]): Promise<void> {
    const writes = deliveries.map(({ _id, ...delivery }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: delivery }, upsert: true },
    }));
    await this.#deliveries.bulkWrite(writes);
  }

  /**
   * Adds deliveries with `spacedMs`, each in place of the earlier ones of its type to the recipient, unless one of a
   * later revision is there. Those whose attempt has failed stay: their receiver may have got them.
   */
  async replace(added: readonly Delivery[]): Promise<void> {
    // Later than any could be due, until what was sent meanwhile is known.
    const held = added.map((each) => ({ ...each, nextAttemptAt: after(each, new Date()) }));
    await this.insertMissing(held);
    const writes: AnyBulkWriteOperation<Delivery>[] = [];
    for (const own of held) {
      const all = await this.#deliveries.find(sameAs(own)).sort({ since: -1, revision: -1 }).lean();
      const [latest, ...earlier] = all;
      if (!latest) continue;
      for (const { _id, status, attempts } of earlier) {
        const isReplaced = status !== 'waiting' || attempts === 0;
        if (isReplaced) writes.push({ deleteOne: { filter: { _id, status, attempts } } });
      }
      const due = earlier.map((each) => Number(dueAfter(each)));
      const nextAttemptAt = new Date(Math.max(Date.now(), ...due));
      // An attempt that ended since has postponed it.
      const filter = { _id: own._id, nextAttemptAt: own.nextAttemptAt };
      writes.push({ updateOne: { filter, update: { $set: { nextAttemptAt } } } });
    }
    if (writes.length > 0) await this.#deliveries.bulkWrite(writes);
  }

  /** Sends a delivery of a lane again, or a waiting one at once; returns it, if there is one. */
  async repeat(session: ClientSession, lane: Id, id: string, now: Date): Promise<Delivery | null> {
    const again = { status: 'waiting' as const, attempts: 0, failingSince: null };
    // Whoever wants it again wants it on another day, too.
    const $set = {
      ...again,
      dayIn: null,
      dropAt: null,
      nextAttemptAt: now,
      expiresAt: keptUntil(now),
    };
    const filter = { _id: toStoredId(id), webhookId: asUuid(lane._id) };
    const options = { session, returnDocument: 'after' } as const;
    return this.#deliveries.findOneAndUpdate(filter, { $set }, options).lean();
  }

  /** Which of some ids are those of stored deliveries, as texts. */
  async existing(ids: readonly StoredId[]): Promise<Set<string>> {
    const found = await this.#deliveries.find({ _id: anyOf(ids) }, '_id').lean();
    return new Set(found.map(({ _id }) => idText(_id)));
  }

  /** The deliveries of a lane, newest first. */
  async list(lane: Id, after: Position | undefined, limit: number): Promise<Delivery[]> {
    const inLane = { webhookId: asUuid(lane._id), ...inRange('createdAt', { after }) };
    return this.#deliveries.find(inLane).sort(newestFirst('createdAt')).limit(limit).lean();
  }

  /** Makes the waiting delivery of a type about an account due; returns it, if there is one. */
  async hasten(
    session: ClientSession,
    lane: Id,
    about: Pick<Delivery, 'userId' | 'type'>,
    nextAttemptAt: Date,
  ): Promise<Delivery | null> {
    const filter = { ...waitingFor(lane), ...about };
    const options = { session, returnDocument: 'after' } as const;
    return this.#deliveries.findOneAndUpdate(filter, { $set: { nextAttemptAt } }, options).lean();
  }

  /** Deletes the waiting deliveries of a type about an account. */
  async cancel(
    session: ClientSession,
    lane: Id,
    about: Pick<Delivery, 'userId' | 'type'>,
  ): Promise<void> {
    await this.#deliveries.deleteMany({ ...waitingFor(lane), ...about }, { session });
  }

  /** The lanes with deliveries. */
  async lanes(): Promise<StoredId[]> {
    const found = await this.#deliveries.aggregate<{ _id: StoredId }>([
      { $sort: { webhookId: 1 } },
      { $group: { _id: '$webhookId' } },
    ]);
    return found.map(({ _id }) => _id);
  }

  async countWaiting(lane: Id): Promise<number> {
    return this.#deliveries.countDocuments(waitingFor(lane));
  }

  /** How many deliveries of some lanes are due. */
  countDue(lanes: readonly StoredId[]): Promise<number> {
    const due = { status: 'waiting' as const, nextAttemptAt: { $lte: new Date() } };
    return this.#deliveries.countDocuments({ webhookId: anyOf(lanes), ...due }).exec();
  }

  async countFinished(lane: Id): Promise<number> {
    return this.#deliveries.countDocuments(finishedOf(lane));
  }

  /** Deletes the oldest finished deliveries of a lane, at most {@link CHUNK}; returns how many. */
  deleteFinished(lane: Id, limit: number): Promise<number> {
    return this.#deleteSome(finishedOf(lane), limit);
  }

  /** Deletes deliveries of a lane, at most {@link CHUNK}; returns how many. */
  deleteOf({ _id }: Id): Promise<number> {
    return this.#deleteSome({ webhookId: asUuid(_id) });
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

  /** Lets the waiting deliveries of a closed account outlive it: each is deleted once delivered. */
  async outlive(userId: string): Promise<void> {
    const waiting = { ...ofAccount(userId), status: 'waiting' as const };
    await this.#deliveries.updateMany(waiting, { $set: { isLast: true } });
  }

  /** Deletes the deliveries of an account, without those that outlive it. */
  async erase(userId: string): Promise<void> {
    while ((await this.#deleteSome(ofAccount(userId))) > 0);
  }

  async #deleteSome(filter: QueryFilter<Delivery>, limit = CHUNK): Promise<number> {
    const found = this.#deliveries.find(filter).select('_id').sort({ createdAt: 1 });
    const ids = (await found.limit(Math.min(limit, CHUNK)).lean()).map(({ _id }) => _id);
    return (await this.#deliveries.deleteMany({ _id: anyOf(ids) })).deletedCount;
  }
}

/** Matches the deliveries that a delivery with `spacedMs` stands for, and itself. */
function sameAs({ webhookId, userId, destinationId, type }: Delivery) {
  return {
    webhookId: asUuid(webhookId),
    userId,
    destinationId: destinationId && asUuid(destinationId),
    type,
    spacedMs: { $gt: 0 },
  };
}

/** When the next may be sent after one that is sent at a moment. */
function after({ spacedMs }: Delivery, sent: Date): Date {
  return new Date(sent.getTime() + (spacedMs ?? 0));
}

/** When one that replaces a delivery may be sent. */
function dueAfter(earlier: Delivery): Date {
  const { lastAttemptAt, nextAttemptAt } = earlier;
  return lastAttemptAt ? after(earlier, lastAttemptAt) : (nextAttemptAt ?? new Date());
}

function finishedOf({ _id }: Id) {
  return { webhookId: asUuid(_id), status: { $ne: 'waiting' as const } };
}

function ofAccount(userId: string) {
  return { userId, isLast: false, type: { $ne: 'account.deleted' } };
}
