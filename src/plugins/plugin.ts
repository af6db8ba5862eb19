import type Joi from 'joi';

import type { ErrorCode } from '../core/errors';
import type { Identity } from '../core/identity';
import type { Reading } from '../core/metrics';
import type { Setting, Settings } from '../core/settings/settings';
import type { ChangedList } from '../data/changes/changes';
import type { DerivedData } from '../data/writing/derived';
import type { DomainEvent } from '../data/writing/domain-event';
import type { Listener } from '../data/writing/listener';
import type { ModelDefinition } from '../data/model/models';
import type { Quota } from '../data/model/quotas';
import type { Migration } from '../data/schema/migration';
import type { CommandLine } from './command';
import type { Host, PluginReference } from './host';
import type { Feature, Operation } from './operation';
import type { Tag, ProtocolEndpoint } from './protocol-endpoint';

/** A plugin: what it is (data, checked before anything runs) and how it is set up. */
export interface Plugin<Exports = unknown> extends PluginReference<Exports> {
  /** Plugins whose exports, scopes, errors or domain events it uses; they are set up before it. */
  requires: readonly string[];
  /** What it uses of the contributions of all plugins, whose data its calls then read. */
  collects?: readonly 'changes'[];
  /** Scopes that tokens may carry, each with what it permits. */
  scopes?: Readonly<Record<string, string>>;
  /** Those of budgets and quotas need not be named again. */
  settings?: readonly Setting<unknown>[];
  /** What must be right between settings, or with the scopes of all plugins: what is wrong, if anything. */
  rules?: readonly ((
    settings: Settings,
    scopes: ReadonlyMap<string, string>,
  ) => string | undefined)[];
  /** Rate budgets: calls a minute for each account. */
  budgets?: Readonly<Record<string, Setting<number>>>;
  /** What its models count against. */
  quotas?: Readonly<Record<string, Quota>>;
  /** What only some tiers have, by the names that `GET /api/account` gives them. */
  features?: Readonly<Record<string, Feature>>;
  errors?: readonly ErrorCode[];
  /** Domain events that it emits. */
  emits?: readonly DomainEvent<unknown>[];
  models?: readonly ModelDefinition[];
  /** What makes data of earlier versions fit for this one, in the order in which it is done. */
  migrations?: readonly Migration[];
  /** A sentence or two for an assistant about the resource and its tools. */
  instructions?: string;
  /** What its operations and protocols are about, where it has any. */
  tag?: Tag;
  /** Adds the plugin's commands to the command line; they reach the plugin by its exports. */
  commands?: (commandLine: CommandLine) => void;
  setup(host: Host): PluginRuntime<Exports>;
}

/** What a plugin adds to the program once it is set up. */
export interface PluginRuntime<Exports = unknown> {
  /** What other plugins, and the plugin's own commands, may call. */
  exports?: Exports;
  /** Asked for once all plugins are set up. */
  operations?: () => readonly Operation[];
  protocols?: readonly ProtocolEndpoint[];
  listeners?: readonly Listener[];
  /** Lists of `GET /api/changes`: one for each of its tracked models, and perhaps more. */
  changes?: readonly ChangedList[];
  derived?: readonly DerivedData[];
  dataChecks?: readonly DataCheck[];
  jobs?: readonly Job[];
  /** Metrics of its own, read when they are asked for. */
  readings?: readonly Reading[];
  seeds?: readonly SeedKind[];
  /** Exactly one plugin answers who a caller is. */
  identity?: Identity;
  /** What `make run` does on an empty database; answers lines to print. */
  onFirstStart?: (start: FirstStart) => Promise<string[]>;
}

/** A plugin, and what it adds to the program. */
export interface SetUpPlugin {
  plugin: Plugin;
  contribution: PluginRuntime;
  operations: readonly Operation[];
}

/** The first start of a server on an empty database. */
export interface FirstStart {
  url: string;
  /** Scopes that plugins declare, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** Loads the program's own seeds, once all files were checked. */
  loadSeeds: () => Promise<unknown>;
}

/** Work that the server does by itself from time to time. Must be safe in several processes. */
export interface Job {
  name: string;
  everySeconds: number;
  /** A long run leaves the rest for the next time once `stopping` is aborted. */
  run(stopping: AbortSignal): Promise<void>;
}

/** What doctor looks for among the data of accounts: what was taken once, and is no more. */
export interface DataCheck {
  name: string;
  /** How many records of an account are such. */
  count(userId: string): Promise<number>;
  /** How it is where there are none. */
  good: string;
  /** One sentence that says what is wrong, with whose records, and what to do. */
  fault(records: number, whose: string): string;
}

/** A file of `seeds/` that a plugin knows how to load. */
export interface SeedKind {
  /** Name of the file without `.json`. */
  name: string;
  schema: Joi.Schema;
  /** What keeps it from being loaded that no schema can know: a line each, naming the place. */
  preflight?(content: never): Promise<string[]>;
  /** Loads what the schema let through; answers how many records are new. */
  load(content: never): Promise<number>;
}

/** Declares a plugin; the type of its exports, if it has any, is known to its importers. */
export function definePlugin<Exports = undefined>(plugin: Plugin<Exports>): Plugin<Exports> {
  return plugin;
}

/** All that operators can set about a plugin: its own settings, its budgets and its quotas. */
export function settingsOf({
  settings = [],
  budgets = {},
  quotas = {},
}: Plugin): Setting<unknown>[] {
  const limits = Object.values(quotas).flatMap((quota) => Object.values(quota.limits));
  return [...new Set<Setting<unknown>>([...settings, ...Object.values(budgets), ...limits])];
}
