import type { Account } from '../../src/core/identity';
import { DomainEvent } from '../../src/data/domain-event';

/** The tier or the time zone of an account was set. */
export const accountChanged = new DomainEvent<{ before: Account; after: Account }>(
  'account.changed',
);
