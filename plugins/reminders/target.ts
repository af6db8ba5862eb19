import { fieldError } from '../../src/core/errors';
import type { Deliveries } from '../deliveries';
import { keyFault } from './channels/encryption';
import type { Reminder } from './model';
import type { CreateReminder } from './schema';

/** The field that says where a reminder of a channel is sent. */
const NEEDED = { email: undefined, push: 'subscription', url: 'url', ntfy: 'url' } as const;

/** Where a new reminder is sent. @throws ApiError validation_error */
export function targetOf(
  body: CreateReminder,
  poster: Deliveries['poster'],
): Pick<Reminder, 'url' | 'p256dh' | 'auth'> {
  const { channel, url, subscription, events } = body;
  const need = NEEDED[channel];
  if (events && channel !== 'url') throw fieldError('events', 'events is for the channel url.');
  for (const field of ['url', 'subscription'] as const) {
    const isGiven = body[field] !== undefined;
    if (isGiven === (field === need)) continue;
    const rule = isGiven ? 'not allowed' : 'required';
    throw fieldError(field, `${field} is ${rule} for the channel ${channel}.`);
  }
  const address = url ?? subscription?.endpoint ?? null;
  const fault = address === null ? undefined : poster.faultOf(address);
  const named = url === undefined ? 'subscription.endpoint' : 'url';
  if (fault !== undefined) throw fieldError(named, `${named} ${fault}.`);
  if (!subscription) return { url: address, p256dh: null, auth: null };
  const key = keyFault(subscription.keys);
  if (key !== undefined) {
    const field = `subscription.keys.${key}`;
    throw fieldError(field, `${field} must be a key of a push subscription in base64url.`);
  }
  return { url: address, ...subscription.keys };
}
