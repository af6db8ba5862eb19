import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';
import type { CreateBody, Document, PatchBody } from '../../src/fields/field';
import { defineRecord } from '../../src/fields/record';
import {
  boolean,
  integer,
  oneOf,
  someOf,
  text,
  timestamp,
  url,
  uuid,
} from '../../src/fields/types';

/** What a webhook may be told of. */
const EVENTS = [
  ...['care.due', 'plant.created', 'plant.deleted', 'photo.deleted', 'account.deleted'],
  'tier.changed',
] as const;

const id = uuid().readOnly();
const moment = timestamp().readOnly();

export const webhook = defineRecord({
  id,
  /** The account of the backend that made it. */
  userId: text().internal(),
  url: url(2048)
    .createOnly()
    .describe('Where deliveries are sent: https, a public address, no user or password')
    .example('https://shop.example.com/hooks'),
  events: someOf(EVENTS).createOnly().describe('What it is told of'),
  active: boolean()
    .default(true)
    .describe('Off, nothing more is recorded and what waits stays; on, what waits is sent at once'),
  inactiveReason: oneOf(['paused', 'gone', 'failing', 'full'])
    .optional()
    .readOnly()
    .describe(
      'Why it is off: `paused` by PATCH, `gone` by a 410, `failing` for 3 days, `full` with too much waiting',
    ),
  failingSince: timestamp().optional().readOnly().describe('Since when no delivery has succeeded'),
  createdAt: moment,
  /** As it was shown, since deliveries are signed with it. */
  secret: text().internal(),
  /** Whether it was switched on, and what waits is to be sent at once. */
  isResumed: boolean().internal(),
});
export type Webhook = Document<typeof webhook.fields>;
export type CreateWebhook = CreateBody<typeof webhook.fields>;
export type UpdateWebhook = PatchBody<typeof webhook.fields>;
export type EventName = Webhook['events'][number];
export type InactiveReason = NonNullable<Webhook['inactiveReason']>;

export const webhookModel = sharedModel<Webhook>(
  'Webhook',
  'it is told of all accounts, and no export may hold its secret',
  new Schema(webhook.paths, { collection: 'webhooks' })
    // Those of a backend, in the order of the list.
    .index({ userId: 1, createdAt: 1, _id: 1 })
    // Those that are told of what happens.
    .index({ active: 1 }),
);

/** One event for one webhook. Ids order what one transaction wrote. */
export const delivery = defineRecord({
  id: id.describe('The `webhook-id` that it is sent with'),
  type: text().readOnly().example('plant.created'),
  userId: text().readOnly().describe('The account that it is about').example('ada'),
  status: oneOf(['waiting', 'delivered', 'dropped'])
    .readOnly()
    .describe('`dropped`: its day was over before it could be delivered'),
  attempts: integer().readOnly(),
  createdAt: moment,
  nextAttemptAt: timestamp().optional().readOnly().describe('Not before; null once it is over'),
  lastAttemptAt: timestamp().optional().readOnly(),
  responseStatus: integer().optional().readOnly().describe('Of the last attempt'),
  error: text().optional().readOnly().describe('Why the last attempt failed'),
  webhookId: uuid().internal(),
  body: text().internal(),
  /** When its account was made: one of the same id may have been deleted before. */
  since: timestamp().internal(),
  /** Of its account, with what happened. */
  revision: integer().internal(),
  /** When it was first tried in vain. */
  failingSince: timestamp().optional().internal(),
  /** The time zone in whose present day alone it is of any use. */
  dayIn: text().optional().internal(),
  /** Whether its account is deleted, and it goes once it is delivered. */
  isLast: boolean().internal(),
  expiresAt: timestamp().internal(),
});
export type Delivery = Document<typeof delivery.fields>;

const waiting = { partialFilterExpression: { status: 'waiting' } };

export const deliveryModel = sharedModel<Delivery>(
  'Delivery',
  'it is about one account, for the backend of another, and may outlive the first',
  new Schema(delivery.paths, { collection: 'webhookDeliveries' })
    // The list of a webhook, newest first; those that have been over for longest.
    .index({ webhookId: 1, createdAt: -1, _id: 1 })
    // The accounts of which something is to be sent now.
    .index({ webhookId: 1, nextAttemptAt: 1, userId: 1 }, waiting)
    // What is to be sent of an account, in its order.
    .index({ webhookId: 1, userId: 1, since: 1, revision: 1, createdAt: 1, _id: 1 }, waiting)
    // What has been waiting for longest.
    .index({ webhookId: 1, createdAt: 1 }, waiting)
    // All of an account, to be exported and deleted.
    .index({ userId: 1, createdAt: 1 })
    .index({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
);

/** Until when what follows from time alone was told. */
export const clockModel = sharedModel<{ _id: string; until: Date }>(
  'WebhookClock',
  'the time is that of all accounts',
  new Schema(
    { _id: { type: String, required: true }, until: { type: Date, required: true } },
    { collection: 'webhookClocks' },
  ),
);
