import type { ClientSession } from 'mongoose';
import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import { withTimeout } from '../core/async';
import type { DerivedData } from '../data/writing/derived';
import type { WriteQueue } from '../data/writing/write-queue';
import { Lease, leaseModel } from '../data/schema/lease';
import type { Host, PluginReference } from '../plugins/host';
import { LoaderError } from '../plugins/loader';
import type { PluginRuntime, Plugin } from '../plugins/plugin';
import type { DataLayer } from './data-layer';
import { rebuildAll } from './reconcile';
import { READY_MS, type ServerConnections } from './server-connections';

/** The part of the app that plugins use. They read it lazily, because it is complete only after set-up. */
interface AppForPlugins {
  readonly settings: Settings;
  readonly scopes: ReadonlyMap<string, string>;
  readonly metrics: Metrics;
  readonly writeQueue: WriteQueue;
  readonly derived: readonly DerivedData[];
  readonly unready: string | undefined;
  readonly warnings: readonly string[];
  /** Those of the plugins that have been set up so far. */
  readonly contributions: readonly PluginRuntime[];
  exportsOf: <Exports>(plugin: PluginReference<Exports>) => Exports;
}

interface HostDependencies {
  log: Logger;
  app: AppForPlugins;
  plugins: readonly Plugin[];
  data: DataLayer;
  connections: ServerConnections;
}

export function hostFor(
  plugin: Plugin,
  { log, app, plugins, data, connections }: HostDependencies,
): Host {
  const { accountData, audit, database, fence, quotas } = data;
  const { name, requires, collects = [] } = plugin;
  const fail = (fault: string): never => {
    throw new LoaderError([`plugins/${name}: ${fault}`]);
  };
  return {
    settings: app.settings,
    scopes: app.scopes,
    log: log.child({ plugin: name }),
    model: (definition) => database.model(definition),
    use: (other) => {
      if (!requires.includes(other.name)) fail(`uses ${other.name} without requiring it`);
      return app.exportsOf(other);
    },
    transact: (userId, work) => app.writeQueue.run(userId, work),
    transactShared: (work) => audit.transact(work),
    accountData,
    audit,
    lease: (name) => new Lease(database.model(leaseModel), name),
    snapshot: <T>(read: (session: ClientSession) => Promise<T>) => database.snapshot(read),
    snapshotStream: <T>(read: (session: ClientSession) => AsyncIterable<T>) =>
      database.snapshotStream(read),
    changedLists: () => {
      if (!collects.includes('changes')) fail('uses changes without collecting them');
      return app.contributions.flatMap(({ changes = [] }) => changes);
    },
    gardens: () => app.contributions.find(({ gardens }) => gardens)?.gardens,
    quotas,
    features: Object.fromEntries(plugins.flatMap((each) => Object.entries(each.features ?? {}))),
    rebuildDerived: async (tx) => {
      await rebuildAll(app.derived, tx);
    },
    readiness: async () => {
      const [{ mongodb, rateLimits }, newer] = await Promise.all([
        connections.readiness(),
        withTimeout(READY_MS, fence.find()),
      ]);
      const unready = app.unready ?? (mongodb ? newer : 'MongoDB cannot be reached.');
      return { unready, rateLimits, warnings: app.warnings };
    },
    metrics: () => app.metrics.text(),
  };
}
