import { createRequire } from 'node:module';
import { hostname } from 'node:os';

import type { Logger } from 'pino';

import type { Identity } from '../core/identity';
import type { AuditLog } from '../data/audit/audit-log';
import type { Acting } from '../data/audit/entry';
import type { Database } from '../data/mongodb/database';
import type { Fence } from '../data/schema/fence';
import type { StoredSchema } from '../data/schema/stored-schema';
import type { DerivedData } from '../data/writing/derived';
import type { WriteQueue } from '../data/writing/write-queue';
import { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import { IdempotencyStore } from '../data/idempotency/idempotency';
import type { Operation } from '../plugins/operation';
import type { PluginRuntime, DataCheck, Plugin, SeedKind, SetUpPlugin } from '../plugins/plugin';
import type { PluginReference } from '../plugins/host';
import { setUpPlugins } from '../plugins/setup';
import type { ApiDescription } from '../plugins/protocol-endpoint';
import { type ApiPart, describeApi, probesOf, scopesOf } from './api-description';
import { scheduledBackups } from './backup/schedule';
import { DataLayer } from './data-layer';
import { hostFor, type HostDependencies } from './host';
import { hostJobs } from './host-jobs';
import type * as Http from './http-listeners';
import { JobRunner } from './jobs';
import { type ServerAddresses, ServerConnections } from './server-connections';
import { readSettings } from './settings';

interface AppOptions {
  plugins: readonly Plugin[];
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Who does what no token does; the server by itself where left out. */
  acting?: Acting | undefined;
}

/** The program without its sockets: plugins set up, and what they contribute put together. */
export class App {
  readonly settings: Settings;
  readonly metrics = new Metrics();
  readonly database: Database;
  readonly audit: AuditLog;
  readonly fence: Fence;
  readonly schema: StoredSchema;
  readonly writeQueue: WriteQueue;
  /** In the order in which plugins require each other. */
  readonly plugins: readonly SetUpPlugin[];
  readonly operations: readonly Operation[];
  readonly identity: Identity;
  readonly derived: readonly DerivedData[];
  readonly dataChecks: readonly DataCheck[];
  readonly seeds: readonly SeedKind[];
  readonly scopes: ReadonlyMap<string, string>;
  readonly #options: AppOptions;
  readonly #data: DataLayer;
  readonly #contributions = new Map<PluginReference, PluginRuntime>();
  readonly #idempotency: IdempotencyStore;
  readonly #jobs: JobRunner;
  readonly #connections: ServerConnections;
  #listeners: Http.HttpListeners | undefined;
  #mongodbUri: string | undefined;
  #closing = false;
  #starting: string | undefined;

  /**
   * Sets the plugins up in their order; nothing is connected yet.
   *
   * @throws LoaderError when contributions do not fit together, SettingsError
   */
  constructor(options: AppOptions) {
    const { plugins, env, log } = options;
    const { acting = { actor: { type: 'server', host: hostname() } } } = options;
    const { metrics } = this;
    this.#options = options;
    this.settings = readSettings(plugins, env);
    this.scopes = scopesOf(plugins);
    this.#data = new DataLayer({
      ...{ plugins, settings: this.settings, log, metrics, acting },
      identity: () => this.identity,
      listeners: () => this.plugins.flatMap(({ contribution }) => contribution.listeners ?? []),
    });
    ({
      database: this.database,
      audit: this.audit,
      fence: this.fence,
      writeQueue: this.writeQueue,
      schema: this.schema,
    } = this.#data);
    this.#connections = new ServerConnections(this.database, log, metrics);
    const host: HostDependencies = {
      log,
      app: this,
      plugins,
      accountData: this.#data.accountData,
      quotas: this.#data.quotas,
      connections: this.#connections,
    };
    this.plugins = setUpPlugins(plugins, (plugin) => {
      const contribution = plugin.setup(hostFor(plugin, host));
      this.#contributions.set(plugin, contribution);
      return contribution;
    });
    const contributions = this.plugins.map(({ contribution }) => contribution);
    const identity = contributions.find((each) => each.identity)?.identity;
    if (!identity) throw new Error('No plugin answers who a caller is.');
    this.identity = identity;
    this.operations = this.plugins.flatMap(({ operations }) => operations);
    this.#idempotency = new IdempotencyStore(
      this.database,
      this.#connections.mongo,
      this.settings,
      metrics,
    );
    this.derived = [
      ...this.#data.derived,
      ...contributions.flatMap((each) => each.derived ?? []),
      this.#idempotency.usage,
    ];
    this.dataChecks = contributions.flatMap((each) => each.dataChecks ?? []);
    this.seeds = contributions.flatMap((each) => each.seeds ?? []);
    for (const reading of contributions.flatMap((each) => each.readings ?? [])) {
      metrics.reading(reading);
    }
    const backups = scheduledBackups(this.settings, () => this.#mongodbUri);
    if (backups) metrics.reading(backups.lastSuccess);
    this.#jobs = new JobRunner(
      [
        ...hostJobs({
          database: this.database,
          writeQueue: this.writeQueue,
          settings: this.settings,
          idempotency: this.#idempotency,
          audit: this.audit,
        }),
        ...(backups ? [backups.job] : []),
        ...contributions.flatMap((each) => each.jobs ?? []),
      ],
      { log, metrics },
    );
  }

  /**
   * Connects to MongoDB, has its data fit this version, and starts to connect to Redis.
   *
   * @param prepare what is done about data that does not fit; answers the migrations that it ran
   * @throws SchemaError where it does not, RightsError where MongoDB does not let us look
   */
  async connect(
    servers: ServerAddresses,
    prepare: () => Promise<string[]> = () => this.schema.update(() => undefined),
  ): Promise<void> {
    this.#mongodbUri = servers.mongodbUri;
    this.#starting = 'The service is starting.';
    await this.#connections.open(servers, async () => {
      await this.recordMigrations(await prepare());
    });
    this.#starting = undefined;
  }

  /** Says to whoever asks whether the service is ready how far its data is brought up to this release. */
  reportMigration(progress: string): void {
    this.#starting = `The data is being brought up to this release. ${progress}.`;
  }

  /** Records in the audit log that migrations were run. */
  async recordMigrations(migrations: readonly string[]): Promise<void> {
    for (const id of migrations) {
      await this.audit.record({ action: 'migration.run', target: { type: 'migration', id } });
    }
  }

  /** Loads and makes what serving takes, some time before there is a need for it. */
  prepareToServe(): void {
    loadHttp();
    const { description } = this;
    for (const { prepare } of description.protocols) prepare?.(description);
  }

  /** Serves the API, or a part of it and the probes; the probes only while it connects. */
  requestListener(part?: ApiPart): Http.RequestListener {
    const { description } = this;
    const only = part && {
      operations: [...probesOf(description), ...part.operations],
      protocols: part.protocols,
    };
    return this.#http.listenerOf({ ...description, ...only });
  }

  /** The names of the steps that a request for an operation passes, in their order. */
  stepsOf(operation: Operation): string[] {
    return this.#http.stepsOf(operation);
  }

  get #http(): Http.HttpListeners {
    const { plugins, log } = this.#options;
    const { settings, metrics, writeQueue, identity } = this;
    this.#listeners ??= new (loadHttp().HttpListeners)({
      plugins,
      settings,
      log,
      metrics,
      writeQueue,
      identity,
      isSharded: this.database.isSharded,
      redis: this.#connections.redis,
      idempotency: this.#idempotency,
      mongo: this.#connections.mongo,
      hashAccount: (accountId) => this.#connections.hashAccount(accountId),
      isClosing: () => this.isClosing,
      isStarting: () => this.#starting !== undefined,
    });
    return this.#listeners;
  }

  /** All that the API consists of, what has a port of its own left out. */
  get description(): ApiDescription {
    return describeApi(this.plugins, this.settings);
  }

  /** Starts the work that the server does by itself. */
  startJobs(): void {
    this.#jobs.start();
  }

  /** What operators should know of the requests that came. */
  get warnings(): readonly string[] {
    return this.#listeners?.warnings ?? [];
  }

  /** Why the program cannot serve, whatever its servers are like; undefined when it can. */
  get unready(): string | undefined {
    return this.#closing ? 'The service is stopping.' : this.#starting;
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  get contributions(): readonly PluginRuntime[] {
    return [...this.#contributions.values()];
  }

  /** From now on connections are not kept, and the service is not ready. */
  beginClosing(): void {
    this.#closing = true;
  }

  async close(): Promise<void> {
    await this.#jobs.stop();
    await this.#connections.close();
  }

  /** The exports of a plugin. */
  exportsOf<Exports>(plugin: PluginReference<Exports>): Exports {
    const contribution = this.#contributions.get(plugin);
    if (!contribution) throw new Error(`The plugin ${plugin.name} is not set up.`);
    // It was this plugin's own setup that made them.
    return contribution.exports as Exports;
  }
}

/** Commands never serve, and need not wait until what does is loaded. */
function loadHttp(): typeof Http {
  // Its own sibling, in the sources as in the build.
  return createRequire(__filename)('./http-listeners') as typeof Http;
}
