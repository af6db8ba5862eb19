import type { ClientSession } from 'mongoose';
import type { Logger } from 'pino';

import { Quotas } from '../calls/quotas';
import { RedisConnection } from '../calls/redis-connection';
import { hostErrors } from '../core/errors';
import { hostSettings, pairedSettings } from '../core/host-settings';
import type { Identity } from '../core/identity';
import { Metrics } from '../core/metrics';
import { type Setting, Settings } from '../core/settings';
import { HOUR_MS } from '../core/time';
import { AccountHash, logKeyModel } from '../data/account-hash';
import { Availability } from '../data/availability';
import { Database } from '../data/database';
import { type CountRecords, type DerivedData, quotaUsage } from '../data/derived';
import { IdempotencyStore } from '../data/idempotency';
import { UnitOfWork } from '../data/unit-of-work';
import type { Host } from '../plugins/host';
import type { Operation } from '../plugins/operation';
import {
  type Contribution,
  type Plugin,
  type SeedKind,
  settingsOf,
  type SetUpPlugin,
} from '../plugins/plugin';
import type { PluginReference } from '../plugins/reference';
import { requirePlugin, setUpPlugins } from '../plugins/setup';
import type { ApiDescription, Transport } from '../plugins/transport';
import { JobRunner } from './jobs';
import { Listeners, type RequestListener } from './listeners';
import { rebuildAll } from './reconcile';
import { loadSeeds, SEEDS_FOLDER } from './seeds';

/** How long MongoDB may take to answer for the service to be ready; probes wait a second. */
const READY_MS = 800;

interface AppOptions {
  plugins: readonly Plugin[];
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Whether answers are checked against their schemas, as in tests. */
  checkResponses?: boolean;
}

/** The program without its sockets: plugins set up, and what they contribute put together. */
export class App {
  readonly settings: Settings;
  readonly metrics = new Metrics();
  readonly database = new Database(this.metrics);
  readonly unitOfWork: UnitOfWork;
  /** In the order in which plugins require each other. */
  readonly plugins: readonly SetUpPlugin[];
  readonly operations: readonly Operation[];
  readonly transports: readonly Transport[];
  readonly identity: Identity;
  readonly derived: readonly DerivedData[];
  readonly seeds: readonly SeedKind[];
  readonly scopes: ReadonlyMap<string, string>;
  readonly #options: AppOptions;
  readonly #contributions = new Map<PluginReference, Contribution>();
  readonly #quotas: Quotas;
  readonly #counts: ReadonlyMap<string, CountRecords>;
  readonly #idempotency: IdempotencyStore;
  readonly #jobs: JobRunner;
  readonly #availability: Availability;
  #accountHash: AccountHash | undefined;
  #listeners: Listeners | undefined;
  #redis: RedisConnection | undefined;
  #closing = false;

  /**
   * Sets the plugins up in their order; nothing is connected yet.
   *
   * @throws LoaderError when contributions do not fit together, SettingsError
   */
  constructor(options: AppOptions) {
    const { plugins, env, log } = options;
    const { metrics } = this;
    this.#options = options;
    this.settings = new Settings(
      [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)],
      env,
      pairedSettings,
    );
    this.scopes = scopesOf(plugins);
    this.#quotas = new Quotas(
      new Map(plugins.flatMap(({ quotas = {} }) => Object.entries(quotas))),
      this.settings,
    );
    this.unitOfWork = new UnitOfWork(
      this.database,
      {
        identity: () => this.identity,
        listeners: () => this.plugins.flatMap(({ contribution }) => contribution.listeners ?? []),
        counts: () => this.#counts,
      },
      { log, metrics },
    );
    this.#availability = new Availability(() => this.database.ping(), log, metrics);
    this.plugins = setUpPlugins(plugins, (plugin) => {
      for (const model of plugin.models ?? []) this.database.model(model);
      const contribution = plugin.setup(this.#hostFor(plugin));
      this.#contributions.set(plugin, contribution);
      return contribution;
    });
    const contributions = this.plugins.map(({ contribution }) => contribution);
    const identity = contributions.find((each) => each.identity)?.identity;
    if (!identity) throw new Error('No plugin answers who a caller is.');
    this.identity = identity;
    this.operations = this.plugins.flatMap(({ operations }) => operations);
    this.transports = contributions.flatMap((each) => each.transports ?? []);
    this.#counts = new Map(contributions.flatMap((each) => Object.entries(each.counts ?? {})));
    this.#idempotency = new IdempotencyStore(this.database, this.settings, metrics);
    this.derived = [
      ...[...this.#counts].map(([quota, count]) => quotaUsage(quota, count)),
      ...contributions.flatMap((each) => each.derived ?? []),
      this.#idempotency.usage,
    ];
    this.seeds = contributions.flatMap((each) => each.seeds ?? []);
    for (const reading of contributions.flatMap((each) => each.readings ?? [])) {
      metrics.reading(reading);
    }
    this.#jobs = new JobRunner(
      [
        {
          // Not when connecting: commands connect too, perhaps without the server's settings.
          name: 'expiry of stored responses',
          everySeconds: HOUR_MS / 1000,
          run: () => this.#idempotency.deleteExpired(),
        },
        ...contributions.flatMap((each) => each.jobs ?? []),
      ],
      { log, metrics },
    );
  }

  /** Connects to MongoDB, ensures its indexes, and starts to connect to Redis. */
  async connect(servers: { mongodbUri: string; redisUrl?: string | undefined }): Promise<void> {
    const { database, metrics } = this;
    database.model(logKeyModel);
    await database.connect(servers.mongodbUri);
    // A connection that breaks and is made anew at once is no outage; a second failure may be one.
    let failures = 0;
    const client = database.connection.getClient();
    client.on('serverHeartbeatSucceeded', () => (failures = 0));
    client.on('serverHeartbeatFailed', () => {
      failures += 1;
      if (failures > 1) this.#availability.suspect();
    });
    this.#accountHash = await AccountHash.open(database);
    if (servers.redisUrl !== undefined) {
      this.#redis = new RedisConnection(servers.redisUrl, this.#options.log, metrics);
      await this.#redis.opened();
    }
  }

  /** Serves the API, or one of its transports alone; to be called once connected. */
  requestListener(transport?: Transport): RequestListener {
    const { plugins, log, checkResponses = false } = this.#options;
    const { settings, metrics, unitOfWork, identity, description } = this;
    this.#listeners ??= new Listeners({
      ...{ plugins, settings, log, metrics, unitOfWork, identity, checkResponses },
      redis: this.#redis,
      idempotency: this.#idempotency,
      availability: this.#availability,
      quotas: this.#quotas,
      hashAccount: (accountId) => this.#accountHash?.of(accountId) ?? '',
      isClosing: () => this.#closing,
    });
    const only = transport && { operations: [], transports: [transport] };
    return this.#listeners.listenerOf({ ...description, ...only });
  }

  /** The transports that have a port of their own, by their settings. */
  get transportsWithPorts(): { ownPort: Setting<number | undefined>; transport: Transport }[] {
    return this.transports.flatMap((transport) => {
      const { ownPort } = transport;
      return ownPort && this.#hasOwnPort(transport) ? [{ ownPort, transport }] : [];
    });
  }

  /** All that the API consists of, what has a port of its own left out. */
  get description(): ApiDescription {
    const { plugins } = this.#options;
    return {
      operations: this.operations,
      transports: this.transports.filter((each) => !this.#hasOwnPort(each)),
      scopes: this.scopes,
      errors: [...hostErrors, ...plugins.flatMap(({ errors = [] }) => errors)],
      instructions: plugins.flatMap(({ instructions = [] }) => instructions),
    };
  }

  /** Starts the work that the server does by itself. */
  startJobs(): void {
    this.#jobs.start();
  }

  /** From now on connections are not kept, and the service is not ready. */
  beginClosing(): void {
    this.#closing = true;
  }

  async close(): Promise<void> {
    await this.#jobs.stop();
    this.#redis?.close();
    this.#availability.stop();
    await this.database.close();
  }

  /** Prepares a new user's first start; answers what each plugin has to print. */
  async welcome(url: string): Promise<string[]> {
    const lines: string[] = [];
    const { scopes, seeds } = this;
    const start = { url, scopes, loadSeeds: () => loadSeeds(seeds, SEEDS_FOLDER) };
    for (const { contribution } of this.plugins) {
      lines.push(...((await contribution.welcome?.(start)) ?? []));
    }
    return lines;
  }

  /** The exports of a plugin. */
  exportsOf<Exports>(plugin: PluginReference<Exports>): Exports {
    const contribution = this.#contributions.get(plugin);
    if (!contribution) throw new Error(`The plugin ${plugin.name} is not set up.`);
    // It was this plugin's own setup that made them.
    return contribution.exports as Exports;
  }

  #hostFor(plugin: Plugin): Host {
    return {
      settings: this.settings,
      log: this.#options.log.child({ plugin: plugin.name }),
      records: (definition) => this.database.records(definition),
      use: (other) => {
        requirePlugin(plugin, other);
        return this.exportsOf(other);
      },
      transact: (userId, work) => this.unitOfWork.run(userId, work),
      snapshot: <T>(read: (session: ClientSession) => Promise<T>) => this.database.snapshot(read),
      quotaLeft: (account, quota) => Math.max(0, this.#quotas.left(account, quota)),
      rebuildDerived: async (tx) => {
        await rebuildAll(this.derived, tx);
      },
      readiness: () => this.#readiness(),
      metrics: () => this.metrics.text(),
    };
  }

  #hasOwnPort({ ownPort }: Transport): boolean {
    return ownPort !== undefined && this.settings.of(ownPort) !== undefined;
  }

  async #readiness() {
    const [mongodb, redis] = await Promise.all([
      this.#availability.answersWithin(READY_MS),
      this.#redis?.ping(),
    ]);
    return {
      mongodb: mongodb ? ('ok' as const) : ('unreachable' as const),
      rateLimits: redis === true ? ('shared' as const) : ('in memory' as const),
      closing: this.#closing,
    };
  }
}

/** Scopes that plugins declare, each with what it permits. */
export function scopesOf(plugins: readonly Plugin[]): Map<string, string> {
  return new Map(plugins.flatMap((plugin) => Object.entries(plugin.scopes ?? {})));
}
