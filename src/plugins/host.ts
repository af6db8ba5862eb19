import type { ClientSession } from 'mongoose';
import type { Logger } from 'pino';

import type { Gardens } from '../core/identity';
import type { Settings } from '../core/settings/settings';
import type { AccountData } from '../data/accounts/account-data';
import type { AuditLog, SharedTransaction } from '../data/audit/audit-log';
import type { ChangedList } from '../data/changes/changes';
import type { ModelDefinition, ModelOf } from '../data/model/models';
import type { Quotas } from '../data/model/quotas';
import type { Lease } from '../data/schema/lease';
import type { Transaction } from '../data/writing/transaction';
import type { Feature } from './operation';

/** Identifies a plugin, and carries the type of its exports. */
export interface PluginReference<Exports = unknown> {
  /** The name of its folder. */
  name: string;
  setup(host: never): { exports?: Exports };
}

/** What a plugin can use of the host. */
export interface Host {
  readonly settings: Settings;
  readonly log: Logger;
  /** The scopes of all plugins, each with what it permits. */
  readonly scopes: ReadonlyMap<string, string>;
  /** One of the plugin's own models. */
  model<T, Owner>(definition: ModelDefinition<T, Owner>): ModelOf<T, Owner>;
  /** The exports of a required plugin. */
  use<Exports>(plugin: PluginReference<Exports>): Exports;
  /** Runs a write to the data of one account in one transaction. */
  transact<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Runs a write to shared data, or one that creates or deletes an account, in one transaction. */
  transactShared<T>(work: (tx: SharedTransaction) => Promise<T>): Promise<T>;
  /** The data of accounts, of all plugins. */
  readonly accountData: AccountData;
  /** The audit log; acts are recorded by transactions. */
  readonly audit: Pick<AuditLog, 'anonymize' | 'entries'>;
  /** A lease with this name, which one process holds at a time. */
  lease(name: string): Lease;
  /** Runs reads that all see the same snapshot. */
  snapshot<T>(read: (session: ClientSession) => Promise<T>): Promise<T>;
  /** Yields what `read` yields; its queries with `of` see the same snapshot, which lasts 5 minutes. */
  snapshotStream<T>(read: (session: ClientSession) => AsyncIterable<T>): AsyncGenerator<T>;
  /** The lists of `GET /api/changes` of all plugins; not during setup. */
  changedLists(): readonly ChangedList[];
  /** The gardens that accounts share, if a plugin provides them; not during setup. */
  gardens(): Gardens | undefined;
  /** The quotas of all plugins. */
  readonly quotas: Quotas;
  /** The features of all plugins, by name. */
  readonly features: Readonly<Record<string, Feature>>;
  /** Recomputes all derived data of the account of `tx`. */
  rebuildDerived(tx: Transaction): Promise<void>;
  /** Whether the program can serve, and what operators should know of it. */
  readiness(): Promise<Readiness>;
  /** The program's metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

export interface Readiness {
  /** Why the program cannot serve, as a sentence; undefined if it can. */
  unready: string | undefined;
  /** Whether rate limits are counted in Redis, or by each process on its own. */
  rateLimits: 'shared' | 'in memory';
  /** What operators should know about recent requests, a sentence each. */
  warnings: readonly string[];
}
