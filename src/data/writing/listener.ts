import type { DomainEvent } from './domain-event';
import type { Transaction } from './transaction';

type Handle<Payload> = (tx: Transaction, payload: Payload) => Promise<void>;

/** A listener runs in the transaction that emits the event, which is aborted if it throws. */
export interface Listener {
  event: DomainEvent<unknown>;
  handle: Handle<never>;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}
