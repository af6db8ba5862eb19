import { Schema } from 'mongoose';

import { ErrorCode } from '../../src/core/errors';
import { sharedModel } from '../../src/data/model/models';
import type { CreateBody, Document, PatchBody } from '../../src/fields/field';
import { defineRecord } from '../../src/fields/record';
import { boolean, oneOf, someOf, text, timestamp, url, uuid } from '../../src/fields/types';
import type { RevisionPosition } from '../accounts';

/** How many webhooks a backend may have, as at GitHub: each event is written once for each of them. */
export const MAX_WEBHOOKS = 20;

export const webhookNotFound = new ErrorCode('webhook_not_found', 404, 'Webhook not found.');

export const deliveryNotFound = new ErrorCode('delivery_not_found', 404, 'Delivery not found.');

export const webhookLimitReached = new ErrorCode(
  'webhook_limit_reached',
  403,
  `A backend may have at most ${MAX_WEBHOOKS} webhooks.`,
);

/** The events that a webhook can subscribe to. */
export const EVENTS = [
  'care.due',
  'plant.created',
  'plant.deleted',
  'photo.deleted',
  'account.deleted',
  'tier.changed',
  'account.changed',
] as const;

export const TEST = 'webhook.test';
export const CHANGED = 'account.changed' as const;
/** The job that reads the changes of accounts, and its progress. */
export const CHANGES_JOB = 'webhook account changes';

const id = uuid().readOnly();
const moment = timestamp().readOnly();

export const webhook = defineRecord({
  id,
  /** The account of its backend. */
  userId: text().internal(),
  url: url(2048)
    .describe('Where deliveries are sent: https, a public address, no user or password')
    .example('https://shop.example.com/hooks'),
  events: someOf(EVENTS).describe('The events that it subscribes to'),
  active: boolean()
    .default(true)
    .describe('While it is off, no events are recorded, and deliveries wait until it is on again'),
  inactiveReason: oneOf(['paused', 'gone', 'failing', 'full'])
    .optional()
    .readOnly()
    .describe(
      'Why it is off: `paused` by PATCH, `gone` after a 410, `failing` for 3 days, `full` with too many deliveries waiting',
    ),
  failingSince: timestamp()
    .optional()
    .readOnly()
    .describe('When deliveries began to fail; null once one succeeds'),
  createdAt: moment,
  /** In clear text: deliveries are signed with it. */
  secret: text().internal(),
  /** The secret before the last rotation, and until when deliveries are signed with it, too. */
  previousSecret: text().optional().internal(),
  previousUntil: timestamp().optional().internal(),
  /** Whether its waiting deliveries are yet to be made due, since it was switched on or moved. */
  isResumed: boolean().internal(),
});
export type Webhook = Document<typeof webhook.fields>;
export type CreateWebhook = CreateBody<typeof webhook.fields>;
export type UpdateWebhook = PatchBody<typeof webhook.fields>;
export type EventName = Webhook['events'][number];
export type InactiveReason = NonNullable<Webhook['inactiveReason']>;

export const webhookModel = sharedModel<Webhook>(
  'Webhook',
  'it receives events of all accounts, and no export may contain its secret',
  { oneShard: 'every write that an active webhook may concern reads them' },
  new Schema(webhook.paths, { collection: 'webhooks' })
    // The webhooks of a backend, in the order of the list.
    .index({ userId: 1, createdAt: 1, _id: 1 })
    // The active ones, for each event.
    .index({ active: 1 }),
);

interface Progress {
  _id: string;
  until: Date;
  /** Accounts whose events failed, and when they were first tried; missing in earlier versions. */
  failed?: { userId: string; at: Date }[];
  /** Where to continue to read the changes of accounts. */
  position?: RevisionPosition;
}

/** The time up to which events were recorded that no write records, except some that failed. */
export const progressModel = sharedModel<Progress>(
  'WebhookProgress',
  'the time is that of all accounts',
  { oneShard: 'three records' },
  new Schema<Progress>(
    {
      _id: { type: String, required: true },
      until: { type: Date, required: true },
      failed: [{ _id: false, userId: String, at: Date }],
      position: Schema.Types.Mixed,
    },
    { collection: 'webhookClocks' },
  ),
);
