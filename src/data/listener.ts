import type { DomainEvent } from './domain-event';
import type { Transaction } from './transaction';

type Handle<Payload> = (tx: Transaction, payload: Payload) => Promise<void>;

/** A listener runs in the transaction of the event's cause; one that throws undoes the cause. */
export interface Listener {
  event: DomainEvent<unknown>;
  handle: Handle<never>;
  /** Whether it gets the payloads of a transaction together, at its end. */
  isCollected?: true;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}

/**
 * Listens to a domain event and gets many at once: all of a transaction, in which writes of many
 * callers may travel together, or those before another event.
 */
export function onAll<Payload>(
  event: DomainEvent<Payload>,
  handle: Handle<readonly Payload[]>,
): Listener {
  return { event, handle, isCollected: true };
}
