import type { ClientSession } from 'mongoose';

import type { Account } from '../identity';

/**
 * What plugins tell each other. A plugin adds its own kinds by merging into this interface:
 * `declare module '../../src/data/transaction' { interface DomainEvents { 'record.removed': … } }`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by declaration merging
export interface DomainEvents {}

/** Listeners run in the transaction of the event's cause; one that throws undoes the cause. */
export type Listeners = {
  [K in keyof DomainEvents]?: (tx: Transaction, payload: DomainEvents[K]) => Promise<void>;
};

/** One write to one account's data, in progress. */
export interface Transaction {
  /** To be passed to every read and write. */
  readonly session: ClientSession;
  /** The account as this transaction sees it. */
  readonly account: Account;
  readonly now: Date;
  /** Tells the listeners of all plugins, in the order in which plugins require each other. */
  emit<K extends keyof DomainEvents>(name: K, payload: DomainEvents[K]): Promise<void>;
  /** Adds to what counts against a quota; negative to free places. */
  addUsage(quota: string, by: number): Promise<void>;
}
