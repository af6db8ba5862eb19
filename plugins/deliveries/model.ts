import { Schema } from 'mongoose';
import { v5 } from 'uuid';

import { idText, newId, type StoredId, toStoredId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import { sharedModel } from '../../src/data/model/models';
import type { Document } from '../../src/fields/field';
import { defineRecord } from '../../src/fields/record';
import { boolean, integer, oneOf, text, timestamp, uuid } from '../../src/fields/types';

/** How long a waiting delivery is kept: its lane may be off, and be switched on again. */
const KEPT_MS = 30 * DAY_MS;

/** Something to be sent. Ids order those of one transaction. */
export const delivery = defineRecord({
  id: uuid().readOnly().describe('Its `webhook-id` header'),
  type: text().readOnly().example('plant.created'),
  userId: text().readOnly().describe('The account of the event').example('ada'),
  status: oneOf(['waiting', 'delivered', 'dropped'])
    .readOnly()
    .describe('`dropped`: its day ended before it could be delivered'),
  attempts: integer().readOnly(),
  createdAt: timestamp().readOnly(),
  nextAttemptAt: timestamp().optional().readOnly().describe('Null once finished'),
  lastAttemptAt: timestamp().optional().readOnly(),
  responseStatus: integer().optional().readOnly().describe('Of the last attempt'),
  error: text().optional().readOnly().describe('Why the last attempt failed'),
  /** Its lane: the webhook, or the one of its channel. */
  webhookId: uuid().internal(),
  /** Where a lane has several destinations, the one that it is for; missing in earlier versions. */
  destinationId: uuid().optional().internal(),
  /** JSON. */
  body: text().internal(),
  /** When its account was created: an earlier account may have had the same id. */
  since: timestamp().internal(),
  /** The revision of its account after the event. */
  revision: integer().internal(),
  /** When an attempt first failed. */
  failingSince: timestamp().optional().internal(),
  /** The time zone in which it is dropped when the day of the event is over; null: never. */
  dayIn: text().optional().internal(),
  /** When it is dropped; null or, in earlier versions, missing: never. */
  dropAt: timestamp().optional().internal(),
  /**
   * How long the next of its type to the recipient waits after an attempt. It stands for all earlier ones; null
   * or, in earlier versions, missing: it does not.
   */
  spacedMs: integer().optional().internal(),
  /** Whether its account is deleted, so that it is deleted once delivered. */
  isLast: boolean().internal(),
  expiresAt: timestamp().internal(),
});
export type Delivery = Document<typeof delivery.fields>;

const sharding = { oneShard: 'it is looked up by its id, lane or account, and lasts for days' };
const waiting = { partialFilterExpression: { status: 'waiting' } };

/** What is sent to backends, by webhooks. */
export const webhookDeliveryModel = sharedModel<Delivery>(
  'WebhookDelivery',
  'it may belong to one account and to the backend of another, and may outlive the first',
  sharding,
  schemaIn('webhookDeliveries'),
);

/** What is sent to people. It is stored apart: 1.2.0 deletes what is of no webhook. */
export const deliveryModel = sharedModel<Delivery>(
  'Delivery',
  'the dispatcher finds what is due of all accounts',
  sharding,
  schemaIn('deliveries'),
);

function schemaIn(collection: string): Schema {
  return (
    new Schema(delivery.paths, { collection })
      // The list of a webhook, newest first, and its oldest finished deliveries.
      .index({ webhookId: 1, createdAt: -1, _id: 1 })
      // The accounts with due deliveries.
      .index({ webhookId: 1, nextAttemptAt: 1, userId: 1 }, waiting)
      // The waiting deliveries of an account, in order.
      .index({ webhookId: 1, userId: 1, since: 1, revision: 1, createdAt: 1, _id: 1 }, waiting)
      // The oldest waiting delivery.
      .index({ webhookId: 1, createdAt: 1 }, waiting)
      // Those that stand for all earlier ones.
      .index({ webhookId: 1, userId: 1 }, { partialFilterExpression: { spacedMs: { $gt: 0 } } })
      // The deliveries of an account, for export and deletion.
      .index({ userId: 1, createdAt: 1 })
      .index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
  );
}

/** What is to be sent, and its place among what is sent about the account. */
export type NewDelivery = Pick<
  Delivery,
  'webhookId' | 'type' | 'userId' | 'since' | 'revision' | 'createdAt' | 'body'
> &
  Partial<
    Pick<Delivery, '_id' | 'destinationId' | 'dayIn' | 'dropAt' | 'spacedMs' | 'nextAttemptAt'>
  >;

/** A delivery that is due at once. */
export function newDelivery(fields: NewDelivery): Delivery {
  return {
    _id: newId(),
    destinationId: null,
    dayIn: null,
    dropAt: null,
    spacedMs: null,
    nextAttemptAt: fields.createdAt,
    lastAttemptAt: null,
    responseStatus: null,
    error: null,
    failingSince: null,
    ...fields,
    status: 'waiting',
    attempts: 0,
    isLast: false,
    expiresAt: keptUntil(fields.createdAt),
  };
}

/**
 * The id of a delivery: always the same for an event that happens once.
 *
 * @param to the id of a destination
 * @param key the same event of an account has the same one
 */
export function eventId(
  to: StoredId,
  { userId, since, type }: Pick<Delivery, 'userId' | 'since' | 'type'>,
  key: string,
): StoredId {
  return toStoredId(v5(JSON.stringify([userId, since, type, key]), idText(to)));
}

/** Until when a delivery that waits from a moment on is kept. */
export function keptUntil(moment: Date): Date {
  return new Date(moment.getTime() + KEPT_MS);
}

/** The id of the lane of a channel that has only one. */
export function laneOf(channel: string): StoredId {
  return toStoredId(v5(channel, LANES));
}

/** Any UUID. */
const LANES = 'c2f8a1de-5d0b-4a43-9f0e-6f5a9d2b7c31';
