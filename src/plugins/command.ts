import type { Command } from 'commander';

import type { PluginReference } from './host';
import type { ApiDescription } from './protocol-endpoint';

/** What a command prints: `result` as a line of JSON under `--json`, else `text`. */
export interface CommandResult {
  result: unknown;
  text: string;
  /** Exit code where the command ran well and yet found a fault. */
  exitCode?: number;
}

/** What a command prints that may be too long to be held: under `--json` it is one line. */
export interface StreamedResult {
  pieces: (isJson: boolean) => AsyncIterable<string>;
}

/** Where plugins add their commands. */
export interface CommandLine {
  program: Command;
  /** Scopes that plugins declare, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /** Does a command's work with the servers and all plugins up, then prints what it answers. */
  run(work: (app: RunningApp) => Promise<CommandResult | StreamedResult>): Promise<void>;
  /** Does work that needs the plugins set up, and no server, then prints what it answers. */
  runOffline(work: (app: { description: ApiDescription }) => CommandResult): void;
}

/** What a command's work can reach. */
export interface RunningApp {
  exportsOf<Exports>(plugin: PluginReference<Exports>): Exports;
  /** Draws the progress of long work on a terminal. */
  progress(label: string, total: number): ProgressBar;
}

/** How far long work has come. */
export interface ProgressBar {
  advance(by: number): void;
  stop(): void;
}
