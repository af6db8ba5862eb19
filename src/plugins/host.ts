import type { ClientSession } from 'mongoose';
import type { Logger } from 'pino';

import type { Account, Tier } from '../core/identity';
import type { Settings } from '../core/settings/settings';
import type { AccountData } from '../data/accounts/account-data';
import type { SharedTransaction } from '../data/audit/audit-log';
import type { ChangedList } from '../data/changes/changes';
import type { ModelDefinition, ModelOf } from '../data/model/models';
import type { Lease } from '../data/schema/lease';
import type { Transaction } from '../data/writing/transaction';
import type { Feature } from './operation';

/** What identifies a plugin, and carries the type of its exports. */
export interface PluginReference<Exports = unknown> {
  /** The name of its folder. */
  name: string;
  setup(host: never): { exports?: Exports };
}

/** What the host gives to a plugin. */
export interface Host {
  readonly settings: Settings;
  readonly log: Logger;
  /** Scopes that plugins declare, each with what it permits. */
  readonly scopes: ReadonlyMap<string, string>;
  /** One of the plugin's own models. */
  model<T, Owner>(definition: ModelDefinition<T, Owner>): ModelOf<T, Owner>;
  /** The exports of a required plugin. */
  use<Exports>(plugin: PluginReference<Exports>): Exports;
  /** Does a write to one account's data in one transaction. */
  transact<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Does a write to what no account owns, or that makes or deletes an account, in one transaction. */
  transactShared<T>(work: (tx: SharedTransaction) => Promise<T>): Promise<T>;
  /** All that the plugins store of accounts. */
  readonly accountData: AccountData;
  /** The right to do work of a name, which one process has at a time. */
  lease(name: string): Lease;
  /** Reads that all see the same moment. */
  snapshot<T>(read: (session: ClientSession) => Promise<T>): Promise<T>;
  /** The lists of `GET /api/changes` of all plugins, for one that collects them; not during setup. */
  changedLists(): readonly ChangedList[];
  /** How many more records an account may have that count against a quota. */
  quotaLeft(account: Pick<Account, 'tier' | 'usage'>, quota: string): number;
  /** The names of the quotas of all plugins. */
  readonly quotas: readonly string[];
  /** How many records an account of a tier may have that count against a quota. */
  quotaLimit(tier: Tier, quota: string): number;
  /** What only some tiers have, of all plugins, by name. */
  readonly features: Readonly<Record<string, Feature>>;
  /** Recomputes everything that derives from other data of the account of `tx`. */
  rebuildDerived(tx: Transaction): Promise<void>;
  /** Whether the program can serve, and what operators should know of it. */
  readiness(): Promise<Readiness>;
  /** The program's metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

/** Whether the program can serve, and how. */
export interface Readiness {
  /** Why the program cannot serve, a sentence; undefined when it can. */
  unready: string | undefined;
  /** Where rate limits are counted: in Redis for all processes, or by each process for itself. */
  rateLimits: 'shared' | 'in memory';
  /** What operators should know of the requests that came, a sentence each. */
  warnings: readonly string[];
}
