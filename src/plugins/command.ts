import type { Settings } from '../core/settings/settings';
import type { Command } from 'commander';

import type { PluginReference } from './host';
import type { ApiDescription } from './protocol-endpoint';

/** The output of a command: `result` as a line of JSON with `--json`, else `text`. */
export interface CommandResult {
  result: unknown;
  text: string;
  /** The exit code of a check that found a fault; 0 by default. */
  exitCode?: number;
}

/** Output that may be too long to hold in memory; one line with `--json`. */
export interface StreamedResult {
  pieces: (isJson: boolean) => AsyncIterable<string>;
}

/** What a command does with data, which must then exist: `read` writes nothing. */
export type DataAccess = 'read' | 'change';

/** The work of a command of a plugin. */
export type Work = (app: RunningApp) => Promise<CommandResult | StreamedResult>;

/** Where plugins add their commands. */
export interface CommandLine {
  program: Command;
  /** The scopes of all plugins, each with what it permits. */
  scopes: ReadonlyMap<string, string>;
  /**
   * Runs a command that needs the servers, and prints its result. It creates the data directory and the
   * database if there are none.
   */
  run(work: Work): Promise<void>;
  /** The same for a command that changes data, which must exist. */
  change(work: Work): Promise<void>;
  /** The same for a command that writes nothing. */
  read(work: Work): Promise<void>;
  /** Runs a command that needs no server, and prints its result. */
  runOffline(
    work: (app: { description: ApiDescription; settings: Settings }) => CommandResult,
  ): void;
}

export interface RunningApp {
  exportsOf<Exports>(plugin: PluginReference<Exports>): Exports;
  /** Shows the progress of long work on a terminal. */
  progress(label: string, total: number): ProgressBar;
}

export interface ProgressBar {
  advance(by: number): void;
  stop(): void;
}
