import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import { AccountData } from '../data/accounts/account-data';
import { AuditLog } from '../data/audit/audit-log';
import type { Acting } from '../data/audit/entry';
import { type CountRecords, type DerivedData, quotaUsage } from '../data/writing/derived';
import { hostModels } from '../data/model/host-models';
import { type ModelDefinition } from '../data/model/models';
import { countedFilter, Quotas } from '../data/model/quotas';
import { Database } from '../data/mongodb/database';
import { Fence, KnownMigrations } from '../data/schema/fence';
import type { Plugin } from '../plugins/plugin';

interface DataOptions {
  plugins: readonly Plugin[];
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  acting: Acting;
}

export type DataLayer = ReturnType<typeof dataLayer>;

/** Makes what needs no plugin to be set up: the database with all models, the audit log and quotas. */
export function dataLayer({ plugins, settings, log, metrics, acting }: DataOptions) {
  const own = plugins.flatMap((plugin) => plugin.models ?? []);
  const models = [...hostModels, ...own];
  const database = new Database(metrics);
  for (const model of models) database.model(model);
  const known = new KnownMigrations(plugins);
  const fence = new Fence(database, known, log, metrics);
  const audit = new AuditLog(database, fence, acting);
  const quotas = new Map(plugins.flatMap((plugin) => Object.entries(plugin.quotas ?? {})));
  const counts = new Map([...quotas.keys()].map((name) => [name, counting(database, own, name)]));
  // Rebuilt before that of plugins.
  const derived: DerivedData[] = [...counts].map(([name, count]) => quotaUsage(name, count));
  return {
    database,
    known,
    fence,
    audit,
    accountData: new AccountData(database, models),
    quotas: new Quotas(quotas, settings),
    counts,
    derived,
  };
}

/** Returns a function that counts the records against a quota. */
function counting(
  database: Database,
  models: readonly ModelDefinition[],
  quota: string,
): CountRecords {
  const counted = models
    .filter((model) => model.quota === quota)
    .map((model) => ({
      // Only models that accounts own count against a quota.
      model: database.model(model as ModelDefinition<object, 'account'>),
      filter: countedFilter(model),
    }));
  return async (tx) => {
    let sum = 0;
    for (const { model, filter } of counted) sum += await model.countDocuments(filter).of(tx);
    return sum;
  };
}
