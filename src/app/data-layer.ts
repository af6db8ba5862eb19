import type { Logger } from 'pino';

import type { Identity } from '../core/identity';
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
import { StoredSchema } from '../data/schema/stored-schema';
import type { Listener } from '../data/writing/transaction';
import { WriteQueue } from '../data/writing/write-queue';
import type { Plugin } from '../plugins/plugin';

interface DataOptions {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  acting: Acting;
  /** Contributed by plugins, and available once they are set up. */
  identity: () => Identity;
  listeners: () => readonly Listener[];
}

/** The database with all models, the write queue, the audit log, quotas and the stored schema. */
export class DataLayer {
  readonly database: Database;
  readonly fence: Fence;
  readonly audit: AuditLog;
  readonly accountData: AccountData;
  readonly quotas: Quotas;
  readonly writeQueue: WriteQueue;
  readonly schema: StoredSchema;
  /** Derived data of the host, rebuilt before that of plugins. */
  readonly derived: readonly DerivedData[];

  constructor({ plugins, settings, log, metrics, acting, identity, listeners }: DataOptions) {
    const models = plugins.flatMap((plugin) => plugin.models ?? []);
    this.database = new Database(metrics);
    const migrations = plugins.flatMap(({ name: plugin, migrations: own = [] }) =>
      own.map((migration) => ({ id: `${plugin}/${migration.name}`, plugin, migration })),
    );
    const known = new KnownMigrations(
      migrations,
      plugins.map(({ name }) => name),
    );
    this.fence = new Fence(this.database, known, log, metrics);
    this.audit = new AuditLog(this.database, this.fence, acting);
    this.accountData = new AccountData(this.database, [...hostModels, ...models], this.audit);
    this.quotas = new Quotas(
      new Map(plugins.flatMap(({ quotas = {} }) => Object.entries(quotas))),
      settings,
    );
    for (const model of [...hostModels, ...models]) this.database.model(model);
    const counts = new Map(
      plugins.flatMap(({ quotas = {}, models: own = [] }) =>
        Object.keys(quotas).map((quota) => [quota, this.#counting(quota, own)]),
      ),
    );
    this.writeQueue = new WriteQueue(
      {
        database: this.database,
        audit: this.audit,
        fence: this.fence,
        identity,
        listeners,
        quotas: this.quotas,
        counts,
      },
      { log, metrics },
    );
    this.schema = new StoredSchema(this.database, {
      migrations,
      known,
      raiseRevisions: async () => {
        await identity().raiseRevisions(1);
      },
    });
    this.derived = [
      // First, because rebuilding other data moves revisions too.
      ...models
        .filter(isTracked)
        .map((each) => missingRevisions(collectionOf(each), this.database.model(each))),
      ...[...counts].map(([quota, count]) => quotaUsage(quota, count)),
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
