import type { ClientSession } from 'mongoose';

import type { Account } from '../../core/identity';
import type { Act, Acting } from '../audit/entry';
import type { DomainEvent } from './domain-event';

/** One write to one account's data, in progress. Reads and writes of records take it as their tenant. */
export interface Transaction {
  readonly userId: string;
  readonly session: ClientSession;
  /** The account as this transaction sees it. */
  readonly account: Account;
  readonly now: Date;
  /** The account's revision once this is committed; later ones are greater. */
  readonly revision: number;
  /** Calls the listeners of all plugins, in the order in which plugins require each other. */
  emit<Payload>(event: DomainEvent<Payload>, payload: Payload): Promise<void>;
  /**
   * Lets the listeners that collect handle what was emitted, before what they keep is read, and
   * sends the writes that wait for others.
   */
  flush(): Promise<void>;
  /**
   * Takes places of a quota, or frees them where it is negative. Written before the commit.
   *
   * @throws ApiError over the limit
   */
  takePlaces(quota: string, places: number): void;
  /** Corrects the usage of a quota. */
  addUsage(quota: string, by: number): void;
  /** Records an act in the audit log. Written before the commit. */
  audit(act: Act): void;
  /** The same transaction, whose acts are recorded as somebody's; without it, as the program's own. */
  as(acting: Acting): Transaction;
}
