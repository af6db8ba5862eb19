import type { Tier } from '../../src/core/identity';
import { DomainEvent } from '../../src/data/writing/transaction';

/** The tier of an account has changed. */
export const tierChanged = new DomainEvent<{ tier: Tier }>('tier.changed');

/** An account was closed; nothing is written to it any more. */
export const accountClosed = new DomainEvent<{ userId: string }>('account.closed');

/** The time zone, or the time at which a person is reminded, has changed. */
export const reminderTimeChanged = new DomainEvent<{ timezone: string; remindAt: string | null }>(
  'reminder_time.changed',
);
