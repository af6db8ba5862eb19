import { hostname } from 'node:os';

import type { Logger } from 'pino';

import type { Gardens, Identity } from '../core/identity';
import type { AuditLog } from '../data/audit/audit-log';
import type { Acting } from '../data/audit/entry';
import type { Database } from '../data/mongodb/database';
import type { Fence } from '../data/schema/fence';
import { StoredSchema } from '../data/schema/stored-schema';
import type { DerivedData } from '../data/writing/derived';
import { WriteQueue } from '../data/writing/write-queue';
import { Metrics } from '../core/metrics';
import type { Settings } from '../core/settings/settings';
import { IdempotencyStore } from '../data/idempotency/idempotency';
import type { Operation } from '../plugins/operation';
import {
  type Job,
  type Plugin,
  type PluginRuntime,
  type SeedKind,
  type SetUpPlugin,
  scopesOf,
  readSettings,
} from '../plugins/plugin';
import type { PluginReference } from '../plugins/host';
import { setUpPlugins } from '../plugins/loader';
import type { ApiDescription } from '../plugins/protocol-endpoint';
import { type ApiPart, describeApi } from './api-description';
import { dataLayer } from './data-layer';
import { hostFor } from './host';
import { hostJobs, JobRunner } from './jobs';
import { HttpListeners, type RequestListener } from './http-listeners';
import type { Lifecycle } from '../http/request-log';
import { type ServerAddresses, ServerConnections } from './server-connections';

interface AppOptions {
  plugins: readonly Plugin[];
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** The actor of audit entries that no token causes; defaults to the server. */
  acting?: Acting | undefined;
}

/** The application without its sockets: the plugins, set up, and what they contribute. */
export class App {
  readonly settings: Settings;
  readonly metrics = new Metrics();
  readonly database: Database;
  readonly audit: AuditLog;
  readonly fence: Fence;
  readonly schema: StoredSchema;
  readonly writeQueue: WriteQueue;
  /** In dependency order. */
  readonly plugins: readonly SetUpPlugin[];
  readonly operations: readonly Operation[];
  readonly identity: Identity;
  readonly gardens: Gardens | undefined;
  readonly derived: readonly DerivedData[];
  readonly seeds: readonly SeedKind[];
  readonly scopes: ReadonlyMap<string, string>;
  readonly #options: AppOptions;
  readonly #contributions = new Map<PluginReference, PluginRuntime>();
  readonly #idempotency: IdempotencyStore;
  readonly #jobs: JobRunner;
  readonly #connections: ServerConnections;
  #listeners: HttpListeners | undefined;
  #mongodbUri: string | undefined;
  readonly #lifecycle: Lifecycle = {
    starting: undefined,
    isClosing: false,
    warnings: new Set(),
  };

  /**
   * Sets up the plugins; connects to nothing.
   *
   * @throws LoaderError if contributions conflict, SettingsError
   */
  constructor(options: AppOptions) {
    const { plugins, env, log } = options;
    const { acting = { actor: { type: 'server', host: hostname() } } } = options;
    const { metrics } = this;
    this.#options = options;
    this.settings = readSettings(plugins, env);
    this.scopes = scopesOf(plugins);
    const data = dataLayer({ plugins, settings: this.settings, log, metrics, acting });
    ({ database: this.database, audit: this.audit, fence: this.fence } = data);
    const connections = new ServerConnections(this.database, log, metrics);
    this.#connections = connections;
    this.plugins = setUpPlugins(plugins, (plugin) => {
      const host = hostFor(plugin, { log, app: this, plugins, data, connections });
      const contribution = plugin.setup(host);
      this.#contributions.set(plugin, contribution);
      return contribution;
    });
    const { contributions } = this;
    const identity = contributions.find((each) => each.identity)?.identity;
    if (!identity) throw new Error('No plugin contributes the identity of callers.');
    this.identity = identity;
    this.gardens = contributions.find((each) => each.gardens)?.gardens;
    const listeners = contributions.flatMap((each) => each.listeners ?? []);
    this.writeQueue = new WriteQueue({ ...data, identity, listeners }, { log, metrics });
    this.schema = new StoredSchema(data.database, data.known, identity);
    this.operations = this.plugins.flatMap(({ operations }) => operations);
    this.#idempotency = new IdempotencyStore(this.database, this.settings, metrics);
    this.derived = [
      ...data.derived,
      ...contributions.flatMap((each) => each.derived ?? []),
      this.#idempotency.usage,
    ];
    this.seeds = contributions.flatMap((each) => each.seeds ?? []);
    for (const reading of contributions.flatMap((each) => each.readings ?? [])) {
      metrics.reading(reading);
    }
    const jobs = hostJobs(this, this.#idempotency, () => this.#mongodbUri);
    const all = [...jobs, ...contributions.flatMap((each) => each.jobs ?? [])];
    this.#jobs = new JobRunner(all, { log, metrics, accounts: connections });
  }

  /**
   * Connects to MongoDB, prepares its data, and starts to connect to Redis.
   *
   * @param prepare migrates or checks the data; returns the migrations that it ran
   * @throws SchemaError if the data does not fit this release, OperatorError if MongoDB denies access
   */
  async connect(
    servers: ServerAddresses,
    prepare: () => Promise<string[]> = () => this.schema.update(() => undefined),
  ): Promise<void> {
    this.#mongodbUri = servers.mongodbUri;
    this.#lifecycle.starting = 'The service is starting.';
    await this.#connections.open(servers, async () => {
      await this.recordMigrations(await prepare());
    });
    this.#lifecycle.starting = undefined;
  }

  /** Makes `/readyz` report the progress of a migration. */
  reportMigration(progress: string): void {
    this.#lifecycle.starting = `The data is being migrated to this release. ${progress}.`;
  }

  async recordMigrations(migrations: readonly string[]): Promise<void> {
    for (const id of migrations) {
      await this.audit.record({ action: 'migration.run', target: { type: 'migration', id } });
    }
  }

  /** Prepares what only a server needs, ahead of time. */
  prepareToServe(): void {
    const { description } = this;
    for (const { prepare } of description.protocols) prepare?.(description);
  }

  /** Serves the API, or `part` of it and the probes; only the probes until it is connected. */
  requestListener(part?: ApiPart): RequestListener {
    const { description } = this;
    const only = part && {
      operations: part.operations,
      protocols: [
        ...description.protocols.filter(({ isOnEveryPort }) => isOnEveryPort),
        ...part.protocols,
      ],
    };
    return this.#http.listenerOf({ ...description, ...only });
  }

  /** Returns the names of the middleware of an operation, in order. */
  stepsOf(operation: Operation): string[] {
    return this.#http.stepsOf(operation);
  }

  get #http(): HttpListeners {
    const { plugins, log } = this.#options;
    const { settings, metrics, writeQueue, identity, gardens } = this;
    this.#listeners ??= new HttpListeners({
      plugins,
      settings,
      log,
      metrics,
      writeQueue,
      identity,
      gardens,
      fence: this.fence,
      connections: this.#connections,
      idempotency: this.#idempotency,
      isSharded: this.database.isSharded,
      lifecycle: this.#lifecycle,
    });
    return this.#listeners;
  }

  get description(): ApiDescription {
    return describeApi(this.plugins, this.settings);
  }

  get jobs(): readonly Job[] {
    return this.#jobs.jobs;
  }

  startJobs(): void {
    this.#jobs.start();
  }

  /** Warnings for operators that follow from the requests so far. */
  get warnings(): readonly string[] {
    const ofPlugins = this.contributions.flatMap(({ warnings }) => warnings?.() ?? []);
    return [...this.#lifecycle.warnings, ...ofPlugins];
  }

  /** Why the process itself is not ready to serve; undefined if it is. */
  get unready(): string | undefined {
    return this.#lifecycle.isClosing ? 'The service is stopping.' : this.#lifecycle.starting;
  }

  /** What the plugins contribute that have been set up so far. */
  get contributions(): readonly PluginRuntime[] {
    return [...this.#contributions.values()];
  }

  /** Makes the service unready, and closes connections after their next response. */
  beginClosing(): void {
    this.#lifecycle.isClosing = true;
  }

  async close(): Promise<void> {
    await this.#jobs.stop();
    await this.#connections.close();
  }

  exportsOf<Exports>(plugin: PluginReference<Exports>): Exports {
    const contribution = this.#contributions.get(plugin);
    if (!contribution) throw new Error(`The plugin ${plugin.name} is not set up.`);
    // The plugin's own setup made them, so they have its type.
    return contribution.exports as Exports;
  }
}
