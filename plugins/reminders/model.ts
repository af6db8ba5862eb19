import { Schema } from 'mongoose';

import { ErrorCode } from '../../src/core/errors';
import { HOUR_MS } from '../../src/core/time';
import { sharedModel } from '../../src/data/model/models';
import type { Document } from '../../src/fields/field';
import { defineRecord } from '../../src/fields/record';
import { boolean, oneOf, someOf, text, timestamp, uuid } from '../../src/fields/types';
import { CHANGED } from '../webhooks';

/** How many reminders an account may have. */
export const MAX_REMINDERS = 10;

/** How long the server tries to send one. */
export const TRIED_MS = 12 * HOUR_MS;

export const CHANNELS = ['email', 'push', 'url', 'ntfy'] as const;
export const DUE = 'care.due' as const;
/** What a url can be told of. */
export const EVENTS = [DUE, CHANGED] as const;

export const reminderNotFound = new ErrorCode('reminder_not_found', 404, 'Reminder not found.');

export const reminderLimitReached = new ErrorCode(
  'reminder_limit_reached',
  403,
  `An account may have at most ${MAX_REMINDERS} reminders.`,
);

export const emailNotConfirmed = new ErrorCode(
  'email_not_confirmed',
  400,
  'The account has no confirmed e-mail address; its person confirms one in /settings.',
);

export const emailNotAvailable = new ErrorCode(
  'email_not_available',
  400,
  'This server sends no e-mail; its operator has set no mail server.',
);

export const reminder = defineRecord({
  id: uuid().readOnly(),
  /** The account of the person who is reminded. */
  userId: text().internal(),
  channel: oneOf(CHANNELS).readOnly(),
  garden: text()
    .optional()
    .readOnly()
    .describe('The shared garden that it is about; null for one’s own')
    .example('ada'),
  active: boolean().readOnly(),
  createdAt: timestamp().readOnly(),
  lastSentAt: timestamp().optional().readOnly(),
  problem: text()
    .optional()
    .readOnly()
    .describe('Why the last attempt failed, or why it was switched off; null once one succeeds'),
  /** Where it is sent to; null for e-mail. */
  url: text().optional().internal(),
  /** The keys of a push subscription. */
  p256dh: text().optional().internal(),
  auth: text().optional().internal(),
  /** In clear text: what is sent to a url is signed with it. */
  secret: text().optional().internal(),
  events: someOf(EVENTS).internal(),
  failingSince: timestamp().optional().internal(),
  /** As those of its account, so that an index finds who is reminded now. */
  timezone: text().internal(),
  remindAt: text().optional().internal(),
});
export type Reminder = Document<typeof reminder.fields>;
export type ChannelName = Reminder['channel'];

const due = { partialFilterExpression: { active: true } };

export const reminderModel = sharedModel<Reminder>(
  'Reminder',
  'those of many people are looked up at once, and no export may contain their secrets',
  { oneShard: 'it is looked up by its account, its garden or its time' },
  new Schema(reminder.paths, { collection: 'reminders' })
    // The list of a person, oldest first.
    .index({ userId: 1, createdAt: 1, _id: 1 })
    // Those of a garden: when it ends, and when it changes.
    .index({ garden: 1, userId: 1 })
    // Whether any is told of changes.
    .index({ events: 1 }, due)
    // The zones with reminders of a channel, and those to send at a time of day.
    .index({ channel: 1, timezone: 1, remindAt: 1, _id: 1 }, due),
);

/** A part of a time zone's reminders that is yet to be sent. */
export interface Span {
  zone: string;
  day: string;
  /** The times of the day after which, and up to which, people are reminded. */
  from: string;
  to: string;
  /** The last one that was sent. */
  last?: { remindAt: string; id: Reminder['_id'] };
}

interface Clock {
  _id: ChannelName;
  until: Date;
  open: Span[];
}

/** The time up to which reminders of a channel were sent, except some that are yet to be. */
export const clockModel = sharedModel<Clock>(
  'ReminderClock',
  'the time is that of all accounts',
  { oneShard: 'one record for each channel' },
  new Schema<Clock>(
    {
      _id: { type: String, required: true },
      until: { type: Date, required: true },
      open: Schema.Types.Mixed,
    },
    { collection: 'reminderClocks' },
  ),
);

interface PushKey {
  _id: string;
  privateKey: string;
}

/** The key with which push services recognize the program. */
export const pushKeyModel = sharedModel<PushKey>(
  'PushKey',
  'all subscriptions are made for it',
  { oneShard: 'one record' },
  new Schema<PushKey>(
    {
      _id: { type: String, required: true },
      privateKey: { type: String, required: true },
    },
    { collection: 'pushKeys' },
  ),
);
