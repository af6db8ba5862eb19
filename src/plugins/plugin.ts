import type Joi from 'joi';

import type { ErrorCode } from '../core/errors';
import type { Gardens, Identity } from '../core/identity';
import type { Reading } from '../core/metrics';
import {
  type Setting,
  Settings,
  differentPorts,
  type SettingsRule,
} from '../core/settings/settings';
import type { ChangedList } from '../data/changes/changes';
import type { DerivedData } from '../data/writing/derived';
import type { DomainEvent, Listener } from '../data/writing/transaction';
import type { ModelDefinition } from '../data/model/models';
import type { Quota } from '../data/model/quotas';
import type { Migration } from '../data/schema/migration';
import type { OfflineCheck } from './check';
import type { CommandLine } from './command';
import type { Host, PluginReference } from './host';
import type { Feature, Operation } from './operation';
import type { Tag, ProtocolEndpoint } from './protocol-endpoint';
import { hostRules, hostSettings } from '../core/settings/host-settings';

/** A plugin: its manifest, which is checked before anything runs, and its setup. */
export interface Plugin<Exports = unknown> extends PluginReference<Exports> {
  /** Plugins whose exports, scopes, errors or domain events it uses; they are set up before it. */
  requires: readonly string[];
  /** Contributions of all plugins that it uses; its operations then read their data. */
  collects?: readonly 'changes'[];
  /** The scopes that it declares, each with what it permits. */
  scopes?: Readonly<Record<string, string>>;
  /** Settings besides those of its budgets and quotas. */
  settings?: readonly Setting<unknown>[];
  /** Checks of settings against each other or the scopes of all plugins; each returns a fault, if any. */
  rules?: readonly ((
    settings: Settings,
    scopes: ReadonlyMap<string, string>,
  ) => string | undefined)[];
  /** What `doctor` and `config check` look at besides. */
  checks?: readonly OfflineCheck[];
  /** Rate budgets: calls a minute of an account. */
  budgets?: Readonly<Record<string, Setting<number>>>;
  /** The quotas that its models count against. */
  quotas?: Readonly<Record<string, Quota>>;
  /** The features that only some tiers have, by their names in `GET /api/account`. */
  features?: Readonly<Record<string, Feature>>;
  errors?: readonly ErrorCode[];
  emits?: readonly DomainEvent<unknown>[];
  models?: readonly ModelDefinition[];
  /** The migrations of data from earlier versions, in order. */
  migrations?: readonly Migration[];
  /** A sentence or two for an assistant about the resource and its tools. */
  instructions?: string;
  /** The OpenAPI tag of its operations and protocols. */
  tag?: Tag;
  /** Adds its commands to the command line; they use the plugin through its exports. */
  commands?: (commandLine: CommandLine) => void;
  setup(host: Host): PluginRuntime<Exports>;
}

/** What a plugin contributes to the program once it is set up. */
export interface PluginRuntime<Exports = unknown> {
  /** The interface for other plugins and for its own commands. */
  exports?: Exports;
  /** Called once all plugins are set up. */
  operations?: () => readonly Operation[];
  protocols?: readonly ProtocolEndpoint[];
  listeners?: readonly Listener[];
  /** Lists of `GET /api/changes`: one for each of its tracked models, and perhaps more. */
  changes?: readonly ChangedList[];
  derived?: readonly DerivedData[];
  jobs?: readonly Job[];
  /** Metrics that are read when they are scraped. */
  readings?: readonly Reading[];
  /** What operators should know about recent requests, a sentence each. */
  warnings?: () => readonly string[];
  seeds?: readonly SeedKind[];
  /** Accounts and tokens; exactly one plugin has it. */
  identity?: Identity;
  /** The gardens that accounts share; at most one plugin has it. */
  gardens?: Gardens;
  /** Runs when `make run` finds an empty database; returns lines to print. */
  onFirstStart?: (start: FirstStart) => Promise<string[]>;
}

/** A plugin with what it contributes. */
export interface SetUpPlugin {
  plugin: Plugin;
  contribution: PluginRuntime;
  operations: readonly Operation[];
}

/** The first start of a server on an empty database. */
export interface FirstStart {
  url: string;
  /** The scopes of all plugins, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** Validates and loads the seeds in `seeds/`. */
  loadSeeds: () => Promise<unknown>;
}

/** Periodic work of the server. It must be safe in several processes at once. */
export interface Job {
  name: string;
  everySeconds: number;
  /**
   * A long run ends early once `stopping` is aborted.
   *
   * @returns false if there was no turn for it
   */
  run(stopping: AbortSignal): Promise<unknown>;
}

/** A file of `seeds/` that a plugin can load. */
export interface SeedKind {
  /** The name of the file without `.json`. */
  name: string;
  schema: Joi.Schema;
  /** Finds faults beyond those of the schema: a line each, with the place. */
  preflight?(content: unknown): Promise<string[]>;
  /** Loads validated content; returns the number of new records. */
  load(content: unknown): Promise<number>;
}

/** Declares a plugin, with the type of its exports. */
export function definePlugin<Exports = undefined>(plugin: Plugin<Exports>): Plugin<Exports> {
  return plugin;
}

/** All settings of a plugin, including those of its budgets and quotas. */
export function settingsOf({
  settings = [],
  budgets = {},
  quotas = {},
}: Plugin): Setting<unknown>[] {
  const limits = Object.values(quotas).flatMap((quota) => Object.values(quota.limits));
  return [...new Set<Setting<unknown>>([...settings, ...Object.values(budgets), ...limits])];
}

/** The scopes that plugins declare, each with what it permits. */
export function scopesOf(plugins: readonly Plugin[]): Map<string, string> {
  return new Map(plugins.flatMap((plugin) => Object.entries(plugin.scopes ?? {})));
}

/**
 * Reads the settings of the host and of the plugins.
 *
 * @throws SettingsError with every invalid variable and the reason
 */
export function readSettings(plugins: readonly Plugin[], env: NodeJS.ProcessEnv): Settings {
  const settings = [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)];
  const scopes = scopesOf(plugins);
  const rules = plugins.flatMap(({ rules: own = [] }) =>
    own.map(
      (rule): SettingsRule =>
        (values) =>
          rule(values, scopes),
    ),
  );
  return new Settings(settings, env, [...hostRules, differentPorts(settings), ...rules]);
}
