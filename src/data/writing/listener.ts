import type { DomainEvent } from './domain-event';
import type { Transaction } from './transaction';

type Handle<Payload> = (tx: Transaction, payload: Payload) => Promise<void>;

/** A listener runs in the transaction of the event's cause. If it throws, the cause is undone. */
export interface Listener {
  event: DomainEvent<unknown>;
  handle: Handle<never>;
  /** Whether it gets all payloads of a transaction together. */
  isCollected?: true;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}

/** Listens to a domain event and gets all payloads of a transaction at once. */
export function onAll<Payload>(
  event: DomainEvent<Payload>,
  handle: Handle<readonly Payload[]>,
): Listener {
  return { event, handle, isCollected: true };
}
