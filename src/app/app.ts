import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ClientSession } from 'mongoose';
import type { Logger } from 'pino';

import { Admission } from '../calls/admission';
import { AnswerCache } from '../calls/answer-cache';
import { CallPipeline } from '../calls/pipeline';
import { Quotas } from '../calls/quotas';
import { RateLimiter } from '../calls/rate-limit';
import { RedisConnection } from '../calls/redis-connection';
import { hostErrors } from '../core/errors';
import { hostSettings } from '../core/host-settings';
import type { Identity } from '../core/identity';
import type { Settings } from '../core/settings';
import { HOUR_MS } from '../core/time';
import { Availability } from '../data/availability';
import { Database } from '../data/database';
import { type CountRecords, type DerivedData, quotaUsage } from '../data/derived';
import { IdempotencyStore } from '../data/idempotency';
import { UnitOfWork } from '../data/unit-of-work';
import { koaApp } from '../http/koa-app';
import { Metrics } from '../http/metrics';
import { routes } from '../http/routes';
import type { Host } from '../plugins/host';
import type { Operation } from '../plugins/operation';
import { type Contribution, type Plugin, type SeedKind, type SetUpPlugin } from '../plugins/plugin';
import type { PluginReference } from '../plugins/reference';
import { requirePlugin, setUpPlugins } from '../plugins/setup';
import type { ApiDescription, Transport } from '../plugins/transport';
import { scheduledBackups } from './backup/schedule';
import { JobRunner } from './jobs';
import { rebuildAll } from './reconcile';
import { loadSeeds, SEEDS_FOLDER } from './seeds';
import { readSettings } from './settings';

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
  readonly database = new Database();
  readonly unitOfWork: UnitOfWork;
  readonly metrics = new Metrics();
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
  #mongodbUri: string | undefined;
  #redis: RedisConnection | undefined;
  #closing = false;

  /**
   * Sets the plugins up in their order; nothing is connected yet.
   *
   * @throws LoaderError when contributions do not fit together, SettingsError
   */
  constructor(options: AppOptions) {
    const { plugins, env, log } = options;
    this.#options = options;
    this.settings = readSettings(plugins, env);
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
      log,
    );
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
    this.#idempotency = new IdempotencyStore(this.database, this.settings);
    this.derived = [
      ...[...this.#counts].map(([quota, count]) => quotaUsage(quota, count)),
      ...contributions.flatMap((each) => each.derived ?? []),
      this.#idempotency.usage,
    ];
    this.seeds = contributions.flatMap((each) => each.seeds ?? []);
    const backups = scheduledBackups(this.settings, () => this.#mongodbUri);
    if (backups) this.metrics.reading(backups.lastSuccess);
    this.#jobs = new JobRunner(
      [
        {
          // Not when connecting: commands connect too, perhaps without the server's settings.
          name: 'expiry of stored responses',
          everySeconds: HOUR_MS / 1000,
          run: () => this.#idempotency.deleteExpired(),
        },
        ...(backups ? [backups.job] : []),
        ...contributions.flatMap((each) => each.jobs ?? []),
      ],
      log,
    );
  }

  /** Connects to MongoDB, ensures its indexes, and starts to connect to Redis. */
  async connect(servers: {
    mongodbUri: string;
    redisUrl?: string | undefined;
    restoring?: boolean | undefined;
  }): Promise<void> {
    const { mongodbUri, restoring = false } = servers;
    this.#mongodbUri = mongodbUri;
    await this.database.connect(mongodbUri, { restoring });
    if (servers.redisUrl !== undefined) {
      this.#redis = new RedisConnection(servers.redisUrl, this.#options.log);
      await this.#redis.opened();
    }
  }

  /** The HTTP side; to be called once connected. */
  requestListener(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
    const { plugins, log, checkResponses = false } = this.#options;
    const { settings, unitOfWork, identity, metrics } = this;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    const limiter = new RateLimiter(Object.fromEntries(budgets), settings, this.#redis);
    const admission = new Admission();
    const availability = new Availability(() => this.database.ping(), log);
    const pipeline = new CallPipeline({
      admission,
      limiter,
      unitOfWork,
      answers: new AnswerCache(this.settings.of(hostSettings.answerCacheMegabytes)),
      idempotency: this.#idempotency,
      availability,
      quotas: this.#quotas,
      checkResponses,
    });
    const koa = koaApp({
      settings,
      log,
      metrics,
      routes: routes(this.description, {
        pipeline,
        admission,
        limiter,
        identity: {
          authenticate: (token, options) =>
            availability.read(() => identity.authenticate(token, options)),
        },
      }),
      isClosing: () => this.#closing,
    });
    return koa.callback();
  }

  /** All that the API consists of. */
  get description(): ApiDescription {
    const { plugins } = this.#options;
    return {
      operations: this.operations,
      transports: this.transports,
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

  async #readiness() {
    const mongodb = await this.database.ping();
    const redis = await this.#redis?.ping();
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
