import type { Command } from 'commander';
import type Joi from 'joi';
import type { Context } from 'koa';
import type { ClientSession, Model, mongo } from 'mongoose';
import type { Logger } from 'pino';

import type { ModelDefinition } from '../data/models';
import type { Listeners, Transaction } from '../data/transaction';
import type { ErrorCode } from '../errors';
import type { Outcome, RawInput } from '../http/composer';
import type { Account, Identity, Principal, Tier } from '../identity';
import type { Setting, Settings } from '../settings';
import type { Operation } from './operation';

/** How many records of a kind an account may have. */
export interface Quota {
  limits: Readonly<Record<Tier, Setting<number>>>;
  /** What a call over the limit is told. */
  error: ErrorCode;
}

/** A plugin: what it is (data, checked before anything runs) and how it is set to work. */
export interface Plugin<Offers = unknown> {
  /** The name of its folder. */
  name: string;
  /** Plugins whose offers it uses; they are set up before it. */
  requires: readonly string[];
  /** Scopes that tokens may carry, each with what it permits. */
  scopes?: Readonly<Record<string, string>>;
  /** Those of budgets and quotas need not be named again. */
  settings?: readonly Setting<unknown>[];
  /** Rate budgets: calls a minute for each account. */
  budgets?: Readonly<Record<string, Setting<number>>>;
  quotas?: Readonly<Record<string, Quota>>;
  errors?: readonly ErrorCode[];
  models?: readonly ModelDefinition[];
  /** Adds the plugin's commands to the command line; their work reaches the plugin by its offers. */
  commands?: (commandLine: CommandLine) => void;
  setup(host: Host): Contribution<Offers>;
}

/** What a plugin adds to the program once it is set up. */
export interface Contribution<Offers = unknown> {
  /** What other plugins, and the plugin's own commands, may call. */
  offers?: Offers;
  operations?: readonly Operation[];
  transports?: readonly Transport[];
  listeners?: Listeners;
  derived?: readonly DerivedData[];
  jobs?: readonly Job[];
  seeds?: readonly SeedKind[];
  /** Exactly one plugin answers who a caller is. */
  identity?: Identity;
  /** What `make run` does on an empty database, and then tells the person who typed it. */
  welcome?: (url: string) => Promise<string[]>;
}

/** Another protocol at a path of its own, over the operations that all plugins declare. */
export interface Transport {
  path: string;
  methods: Readonly<Partial<Record<'GET' | 'POST', TransportMethod>>>;
}

export interface TransportMethod {
  summary: string;
  /** Who may come in; what they may then call is up to each operation. */
  access: { anyToken: string } | { public: string };
  handler: (ctx: Context, exchange: Exchange) => Promise<void>;
}

/** What a transport does its work with: the very links of the chain that REST goes through. */
export interface Exchange {
  /** Those of all plugins, in a fixed order. */
  operations: readonly Operation[];
  transports: readonly Transport[];
  /** Who calls. @throws ApiError unauthorized, invalid_token, rate_limited */
  authenticate(ctx: Context): Promise<Principal>;
  /** The body as JSON. @throws ApiError invalid_json, unsupported_media_type, payload_too_large */
  readJson(ctx: Context): Promise<unknown>;
  /** Calls an operation: its limit, scope, tier, validation and all. @throws ApiError, no other */
  call(operation: Operation, principal: Principal, input: RawInput, ctx: Context): Promise<Outcome>;
}

/** Data that can be computed anew from its causes. */
export interface DerivedData {
  name: string;
  /** Computes it for the account of `tx`, writes what differs, and says each difference. */
  rebuild(tx: Transaction): Promise<string[]>;
}

/** Work that the server does by itself from time to time. Must be safe in several processes. */
export interface Job {
  name: string;
  everySeconds: number;
  /** `stopping` tells a long run to leave the rest for the next time. */
  run(stopping: AbortSignal): Promise<void>;
}

/** A file of `seeds/` that a plugin knows how to load. */
export interface SeedKind {
  /** Name of the file without `.json`. */
  name: string;
  schema: Joi.Schema;
  /** What stands in the way of loading it that no schema can know: a line each, naming the place. */
  obstacles?(content: never): Promise<string[]>;
  /** Loads what the schema let through; answers how many records are new. */
  load(content: never): Promise<number>;
}

/** What a command prints: `result` as a line of JSON under `--json`, else `text`. */
export interface CommandResult {
  result: unknown;
  text: string;
  /** Exit code where the command ran well and yet found something amiss. */
  exitCode?: number;
}

/** Where plugins hang their commands. */
export interface CommandLine {
  program: Command;
  /** Scopes that plugins declare, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** Does a command's work with the servers and all plugins up, then prints what it answers. */
  run(work: (app: RunningApp) => Promise<CommandResult>): Promise<void>;
}

/** What a command's work can reach. */
export interface RunningApp {
  offers<Offers>(plugin: Plugin<Offers>): Offers;
  /** Draws the progress of long work where a person looks on. */
  progress(label: string, total: number): ProgressBar;
}

/** How far long work has come. */
export interface ProgressBar {
  advance(by: number): void;
  stop(): void;
}

/** What the host gives to a plugin. */
export interface Host {
  readonly settings: Settings;
  readonly log: Logger;
  /** Scopes that plugins declare, each with what it permits. */
  readonly scopes: ReadonlyMap<string, string>;
  model<T>(definition: ModelDefinition<T>): Model<T>;
  /** The driver's collection under a model: for reads that many requests wait for. */
  collection<T>(definition: ModelDefinition<T>): mongo.Collection<T & mongo.Document>;
  /** What a required plugin offers. */
  offers<Offers>(plugin: Plugin<Offers>): Offers;
  /** Does a write to one account's data in one transaction. */
  transact<T>(userId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Reads that all see the same moment. */
  snapshot<T>(read: (session: ClientSession) => Promise<T>): Promise<T>;
  /** Lets `work` query user data across accounts; `why` stands where a reviewer looks for it. */
  acrossAccounts<T>(why: string, work: () => T): T;
  /** How many more records an account may have that count against a quota. */
  quotaLeft(account: Pick<Account, 'tier' | 'usage'>, quota: string): number;
  /** Computes anew all that derives from other data of the account of `tx`. */
  rebuildDerived(tx: Transaction): Promise<void>;
  /** Loads a folder of seeds, once all its files were checked; answers what is new, by kind. */
  loadSeeds(folder: string): Promise<Record<string, number>>;
  /** Whether the program can serve, and in what state its servers are. */
  readiness(): Promise<Readiness>;
  /** The program's figures in Prometheus' text format. */
  metrics(): Promise<string>;
}

/** The state of what the program depends on. */
export interface Readiness {
  mongodb: 'ok' | 'unreachable';
  /** Where rate limits are counted: in Redis for all processes, or by each process for itself. */
  rateLimits: 'shared' | 'in memory';
  closing: boolean;
}
