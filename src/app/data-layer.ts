import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import { AccountData } from '../data/accounts/account-data';
import { AuditLog } from '../data/audit/audit-log';
import type { Acting } from '../data/audit/entry';
import {
  missingRevisions,
  type CountRecords,
  type DerivedData,
  quotaUsage,
} from '../data/writing/derived';
import { hostModels } from '../data/model/host-models';
import { collectionOf, isTracked, type ModelDefinition } from '../data/model/models';
import { countedFilter, Quotas } from '../data/model/quotas';
import { Database } from '../data/mongodb/database';
import { Fence, KnownMigrations } from '../data/schema/fence';
import type { NamedMigration } from '../data/schema/migration';
import type { Plugin } from '../plugins/plugin';

interface DataOptions {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  acting: Acting;
}

/** What needs no plugin to be set up: the database with all models, the audit log and quotas. */
export class DataLayer {
  readonly database: Database;
  readonly fence: Fence;
  readonly audit: AuditLog;
  readonly accountData: AccountData;
  readonly quotas: Quotas;
  /** How to count the records of each quota. */
  readonly counts: ReadonlyMap<string, CountRecords>;
  /** In order. */
  readonly migrations: readonly NamedMigration[];
  readonly known: KnownMigrations;
  /** Derived data of the host, rebuilt before that of plugins. */
  readonly derived: readonly DerivedData[];

  constructor({ plugins, settings, log, metrics, acting }: DataOptions) {
    const models = plugins.flatMap((plugin) => plugin.models ?? []);
    this.database = new Database(metrics);
    this.migrations = plugins.flatMap(({ name: plugin, migrations: own = [] }) =>
      own.map((migration) => ({ id: `${plugin}/${migration.name}`, plugin, migration })),
    );
    this.known = new KnownMigrations(
      this.migrations,
      plugins.map(({ name }) => name),
    );
    this.fence = new Fence(this.database, this.known, log, metrics);
    this.audit = new AuditLog(this.database, this.fence, acting);
    this.accountData = new AccountData(this.database, [...hostModels, ...models], this.audit);
    this.quotas = new Quotas(
      new Map(plugins.flatMap(({ quotas = {} }) => Object.entries(quotas))),
      settings,
    );
    for (const model of [...hostModels, ...models]) this.database.model(model);
    this.counts = new Map(
      plugins.flatMap(({ quotas = {}, models: own = [] }) =>
        Object.keys(quotas).map((quota) => [quota, this.#counting(quota, own)]),
      ),
    );
    this.derived = [
      // First, because rebuilding other data moves revisions too.
      ...models
        .filter(isTracked)
        .map((each) => missingRevisions(collectionOf(each), this.database.model(each))),
      ...[...this.counts].map(([quota, count]) => quotaUsage(quota, count)),
    ];
  }

  #counting(quota: string, models: readonly ModelDefinition[]): CountRecords {
    const counted = models
      .filter((model) => model.quota === quota)
      .map((model) => ({
        // Only models that accounts own count against a quota.
        model: this.database.model(model as ModelDefinition<object, 'account'>),
        filter: countedFilter(model),
      }));
    return async (tx) => {
      let sum = 0;
      for (const { model, filter } of counted) sum += await model.countDocuments(filter).of(tx);
      return sum;
    };
  }
}
