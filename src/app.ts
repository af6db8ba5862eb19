import type { ClientSession } from 'mongoose';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';

import { acrossAccounts } from './data/guard';
import { Database } from './data/database';
import { KeptAnswers } from './data/idempotency';
import type { Listeners } from './data/transaction';
import { UnitOfWork } from './data/unit-of-work';
import { Composer } from './http/composer';
import { koaApp } from './http/koa-app';
import { Metrics } from './http/metrics';
import { RateLimiter } from './http/rate-limit';
import { RedisLink } from './http/redis-link';
import { routes } from './http/routes';
import type { Account, Identity } from './identity';
import { JobRunner } from './jobs';
import { settingsOf } from './plugins/define';
import { LoaderError } from './plugins/loader';
import type {
  Contribution,
  DerivedData,
  Host,
  Plugin,
  Quota,
  SeedKind,
  Transport,
} from './plugins/manifest';
import type { Operation } from './plugins/operation';
import { contributionFault, contributionFaults } from './plugins/rules/contributions';
import { rebuildAll } from './reconcile';
import { loadSeeds } from './seeds';
import { hostSettings, Settings } from './settings';

interface AppOptions {
  plugins: readonly Plugin[];
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Whether answers are held against their schemas, as in tests. */
  checkResponses?: boolean;
}

/** The program without its sockets: plugins set up, and what they add put together. */
export class App {
  readonly settings: Settings;
  readonly database = new Database();
  readonly unitOfWork: UnitOfWork;
  readonly metrics = new Metrics();
  readonly operations: readonly Operation[];
  readonly transports: readonly Transport[];
  readonly identity: Identity;
  readonly derived: readonly DerivedData[];
  readonly seeds: readonly SeedKind[];
  readonly scopes: ReadonlyMap<string, string>;
  readonly #options: AppOptions;
  readonly #contributions = new Map<Plugin, Contribution>();
  readonly #keptAnswers: KeptAnswers;
  readonly #jobs: JobRunner;
  #redis: RedisLink | undefined;
  #closing = false;

  /**
   * Sets the plugins up in their order; nothing is connected yet.
   *
   * @throws LoaderError when contributions do not fit together, SettingsError
   */
  constructor(options: AppOptions) {
    const { plugins, env, log } = options;
    this.#options = options;
    this.settings = new Settings(
      [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)],
      env,
    );
    this.scopes = scopesOf(plugins);
    this.unitOfWork = new UnitOfWork(
      this.database,
      () => this.identity,
      () => this.#listeners(),
    );
    for (const plugin of plugins) {
      for (const model of plugin.models ?? []) this.database.model(model);
      const contribution = plugin.setup(this.#hostFor(plugin));
      const fault = contributionFault(plugin, contribution);
      if (fault !== undefined) throw new LoaderError([fault]);
      this.#contributions.set(plugin, contribution);
    }
    const faults = contributionFaults(this.#contributions);
    const contributions = [...this.#contributions.values()];
    const identity = contributions.find((each) => each.identity)?.identity;
    if (faults.length > 0 || !identity) throw new LoaderError(faults);
    this.identity = identity;
    this.operations = contributions.flatMap((each) => each.operations ?? []);
    this.transports = contributions.flatMap((each) => each.transports ?? []);
    this.derived = contributions.flatMap((each) => each.derived ?? []);
    this.seeds = contributions.flatMap((each) => each.seeds ?? []);
    this.#keptAnswers = new KeptAnswers(this.database);
    this.#jobs = new JobRunner(
      contributions.flatMap((each) => each.jobs ?? []),
      log,
    );
  }

  /** Connects to MongoDB, makes sure of its indexes, and starts to connect to Redis. */
  async connect(servers: { mongodbUri: string; redisUrl?: string | undefined }): Promise<void> {
    await this.database.connect(servers.mongodbUri);
    if (servers.redisUrl !== undefined) {
      this.#redis = new RedisLink(servers.redisUrl, this.#options.log);
      await this.#redis.opened();
    }
  }

  /** The HTTP side; to be called once connected. */
  requestListener(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
    const { plugins, log, checkResponses = false } = this.#options;
    const { settings, unitOfWork, identity, metrics } = this;
    const budgets = plugins.flatMap((plugin) => Object.entries(plugin.budgets ?? {}));
    const limiter = new RateLimiter(Object.fromEntries(budgets), settings, this.#redis);
    const quotas = this.#quotas();
    const composer = new Composer({
      limiter,
      unitOfWork,
      keptAnswers: this.#keptAnswers,
      quotas,
      settings,
      checkResponses,
    });
    const koa = koaApp({
      settings,
      log,
      metrics,
      routes: routes(this.operations, this.transports, { composer, limiter, identity }),
      isClosing: () => this.#closing,
    });
    return koa.callback();
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

  /** Makes a new user at home: what each plugin has to say about it, a line each. */
  async welcome(url: string): Promise<string[]> {
    const lines: string[] = [];
    for (const { welcome } of this.#contributions.values()) {
      lines.push(...((await welcome?.(url)) ?? []));
    }
    return lines;
  }

  /** What a plugin offers. */
  offers<Offers>(plugin: Plugin<Offers>): Offers {
    const contribution = this.#contributions.get(plugin);
    if (!contribution) throw new Error(`The plugin ${plugin.name} is not set up.`);
    // It was this plugin's own setup that made the contribution.
    return contribution.offers as Offers;
  }

  #hostFor(plugin: Plugin): Host {
    return {
      settings: this.settings,
      log: this.#options.log.child({ plugin: plugin.name }),
      scopes: this.scopes,
      model: (definition) => this.database.model(definition),
      collection: (definition) => this.database.collection(definition),
      offers: (other) => {
        if (!plugin.requires.includes(other.name)) {
          throw new LoaderError([
            `plugins/${plugin.name}: uses ${other.name} without requiring it`,
          ]);
        }
        return this.offers(other);
      },
      transact: (userId, work) => this.unitOfWork.run(userId, work),
      snapshot: <T>(read: (session: ClientSession) => Promise<T>) => this.database.snapshot(read),
      acrossAccounts,
      quotaLeft: (account, quota) => this.#quotaLeft(account, quota),
      rebuildDerived: async (tx) => {
        await rebuildAll(this.derived, tx);
      },
      loadSeeds: (folder) => loadSeeds(this.seeds, folder),
      readiness: () => this.#readiness(),
      metrics: () => this.metrics.text(),
    };
  }

  #quotas(): Map<string, Quota> {
    return new Map(this.#options.plugins.flatMap(({ quotas }) => Object.entries(quotas ?? {})));
  }

  #quotaLeft({ tier, usage }: Pick<Account, 'tier' | 'usage'>, name: string): number {
    const quota = this.#quotas().get(name);
    if (!quota) throw new Error(`There is no quota ${name}.`);
    return Math.max(0, this.settings.of(quota.limits[tier]) - (usage[name] ?? 0));
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

  #listeners(): Listeners[] {
    return [...this.#contributions.values()].flatMap((each) => each.listeners ?? []);
  }
}

/** Scopes that plugins declare, each with what it permits. */
export function scopesOf(plugins: readonly Plugin[]): Map<string, string> {
  return new Map(plugins.flatMap((plugin) => Object.entries(plugin.scopes ?? {})));
}
