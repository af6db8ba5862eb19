import type { DomainEvent } from './domain-event';
import type { Transaction } from './transaction';

type Handle<Payload> = (tx: Transaction, payload: Payload) => Promise<void>;

/** A listener runs in the transaction that emits the event, which is aborted if it throws. */
export interface Listener {
  event: DomainEvent<unknown>;
  handle: Handle<never>;
  /** Whether it receives all payloads of a transaction at once. */
  isCollected?: true;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}

/** Listens to a domain event, and receives all payloads of a transaction at once. */
export function onAll<Payload>(
  event: DomainEvent<Payload>,
  handle: Handle<readonly Payload[]>,
): Listener {
  return { event, handle, isCollected: true };
}
