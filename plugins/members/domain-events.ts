import { DomainEvent } from '../../src/data/writing/transaction';

/** A garden is shared with a person no more; the end of its time causes no event. */
export const membershipEnded = new DomainEvent<{ person: string; garden: string }>(
  'membership.ended',
);
