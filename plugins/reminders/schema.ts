import Joi from 'joi';

import { named, nullable, oneOf, someOf, text, url, withKeys } from '../../src/fields/joi';
import { type ChannelName, CHANNELS, EVENTS, reminder } from './model';

const MAX_URL = 2048;

export interface Subscription {
  endpoint: string;
  expirationTime?: number | null;
  keys: { p256dh: string; auth: string };
}

export interface CreateReminder {
  channel: ChannelName;
  garden?: string;
  subscription?: Subscription;
  url?: string;
  events?: (typeof EVENTS)[number][];
}

const subscription = Joi.object<Subscription, true>({
  endpoint: url(MAX_URL).required(),
  expirationTime: nullable(Joi.number()),
  keys: Joi.object({
    p256dh: text({ min: 1, max: 100 }).required(),
    auth: text({ min: 1, max: 100 }).required(),
  }).required(),
});

export const createReminder = Joi.object<CreateReminder, true>({
  channel: oneOf(CHANNELS).required(),
  garden: text({ min: 1, max: 64 }).description(
    'The id of a garden that is shared with the person; without it, their own',
  ),
  subscription: subscription.description(
    'For `push`: the subscription of the browser, as `PushSubscription.toJSON()` returns it, or of an app (UnifiedPush)',
  ),
  url: url(MAX_URL).description(
    'For `url` and `ntfy`: where it is sent, https, a public address, no user or password',
  ),
  events: someOf(oneOf(EVENTS), EVENTS.length).description(
    'For `url`: what is sent, `care.due` by default; `account.changed` says that anything of the garden was changed',
  ),
}).example({ channel: 'url', url: 'https://home.example.com/plants' });

export const updateReminder = Joi.object<{ active?: boolean }, true>({
  active: Joi.boolean().description('Whether it is sent; true also clears `problem`'),
});

export const reminderView = named('Reminder', reminder.view);
export const reminders = Joi.object({ items: Joi.array().items(reminderView).required() });

export const newReminder = named(
  'NewReminder',
  withKeys(reminder.view, {
    secret: nullable(text())
      .required()
      .example('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=')
      .description(
        'What is sent to a `url` is signed with it; shown only here, null for other channels',
      ),
  }),
);

export const sent = Joi.object({
  sent: Joi.boolean().required(),
  problem: nullable(text()).required().description('Why it was not sent; null if it was'),
});

export const pushKey = Joi.object({
  publicKey: text()
    .required()
    .description('For `applicationServerKey` of `PushManager.subscribe()`: base64url'),
});
