import type { DomainEvent } from './domain-event';
import type { Transaction } from './transaction';

type Handle<Payload> = (tx: Transaction, payload: Payload) => Promise<void>;

/** A listener runs in the transaction of the event's cause; one that throws undoes the cause. */
export interface Listener {
  event: DomainEvent<unknown>;
  handle: Handle<never>;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}
