import type { ClientSession } from 'mongoose';

import type { Account, Author } from '../../core/identity';
import type { Act, Acting } from '../audit/entry';

/** A transaction on the data of one account. Queries take it as their tenant. */
export interface Transaction {
  readonly userId: string;
  readonly session: ClientSession;
  /** The account as this transaction sees it. */
  readonly account: Account;
  readonly now: Date;
  /** The revision of the account once this is committed; every later one is greater. */
  readonly revision: number;
  /** Who acts, if the garden is another's. */
  readonly by: Author | undefined;
  /** Calls the listeners of all plugins, in the order of the plugins. */
  emit<Payload>(event: DomainEvent<Payload>, payload: Payload): Promise<void>;
  /**
   * Adds to the usage of a quota, or subtracts from it.
   *
   * @throws ApiError over the limit
   */
  consume(quota: string, records: number): void;
  /** Corrects the usage of a quota, without a limit. */
  addUsage(quota: string, by: number): void;
  /** Records an act in the audit log, before the commit. */
  audit(act: Act): void;
  /** The same transaction, with another actor in the audit log; the default is the program itself. */
  as(acting: Acting): Transaction;
}

/** Something that happened to a resource. Other plugins react to it in the same transaction. */
export class DomainEvent<Payload> {
  /** Never set: it carries the type of the payload. */
  declare readonly payload?: Payload;

  /** @param name the resource and what happened to it, such as `record.deleted` */
  constructor(readonly name: string) {}
}

/** It may return a query, which is then executed. */
type Handle<Payload> = (tx: Transaction, payload: Payload) => PromiseLike<unknown>;

/** A listener runs in the transaction that emits the event, which is aborted if it throws. */
export interface Listener {
  event: DomainEvent<unknown>;
  /** {@link on} has checked that it takes the payload of the event. */
  handle(tx: Transaction, payload: unknown): PromiseLike<unknown>;
}

/** Listens to a domain event. */
export function on<Payload>(event: DomainEvent<Payload>, handle: Handle<Payload>): Listener {
  return { event, handle };
}
