import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { OperatorError } from '../core/errors';
import { isRecord, reasonOf } from '../core/values';
import type { Plugin, PluginRuntime, SetUpPlugin } from './plugin';
import { manifestFaults, manifestSchemaFault } from './manifests';
import type { Operation } from './operation';
import { isConditional } from './operation-facts';
import { contributionFaults } from './contributions';

/** The faults of the plugins, a line each, with the folder. */
export class LoaderError extends OperatorError {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'LoaderError';
  }
}

const requireFrom = createRequire(__filename);

/** The folder of plugins, beside `src` in the sources and in the build. */
export const PLUGINS_FOLDER = path.resolve(__dirname, '../../plugins');

/** The manifest of a plugin that only the command line needs is in this file instead of `index`. */
const CLI_ENTRY = 'cli';

/**
 * Loads the plugins that a server needs: all but those of the command line.
 *
 * @throws LoaderError as {@link loadPlugins}
 */
export function loadServerPlugins(folder: string = PLUGINS_FOLDER): Plugin[] {
  return pluginsIn(foldersIn(folder).filter((each) => !isOfCommandLine(each)));
}

/**
 * Loads the plugin of every folder in the given folders, checks the manifests, and returns the plugins
 * so that each comes after those it requires.
 *
 * @throws LoaderError with every fault
 */
export function loadPlugins(
  folder: string = PLUGINS_FOLDER,
  ...others: readonly string[]
): Plugin[] {
  return pluginsIn([folder, ...others].flatMap(foldersIn));
}

function pluginsIn(folders: readonly string[]): Plugin[] {
  const plugins: Plugin[] = [];
  const faults: string[] = [];
  for (const each of folders) {
    const name = path.basename(each);
    try {
      const manifest = manifestOf(each);
      const fault = manifestSchemaFault(name, manifest);
      if (fault !== undefined) faults.push(fault);
      else plugins.push(manifest as Plugin); // Its shape was just checked.
    } catch (error) {
      faults.push(`plugins/${name}: cannot be loaded: ${reasonOf(error)}`);
    }
  }
  const names = new Set(folders.map((each) => path.basename(each)));
  faults.push(...manifestFaults(plugins, names));
  if (faults.length > 0) throw new LoaderError(faults);
  return inOrder(plugins);
}

function foldersIn(folder: string): string[] {
  return (
    readdirSync(folder)
      .sort()
      .map((name) => path.join(folder, name))
      // Follows symbolic links: a linked folder is one like any other.
      .filter((each) => statSync(each).isDirectory())
  );
}

function isOfCommandLine(folder: string): boolean {
  return readdirSync(folder).some((name) => path.parse(name).name === CLI_ENTRY);
}

function manifestOf(folder: string): unknown {
  const entry = isOfCommandLine(folder) ? path.join(folder, CLI_ENTRY) : folder;
  const module: unknown = requireFrom(entry);
  return isRecord(module) ? module['default'] : undefined;
}

/** Sorts plugins: each after those it requires, otherwise by name. */
function inOrder(plugins: readonly Plugin[]): Plugin[] {
  const waiting = [...plugins].sort((a, b) => (a.name < b.name ? -1 : 1));
  const ordered: Plugin[] = [];
  const ready = new Set<string>();
  while (waiting.length > 0) {
    const index = waiting.findIndex((plugin) => plugin.requires.every((name) => ready.has(name)));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (!next) {
      throw new LoaderError([`plugins/${cycleIn(waiting)}: require each other in a cycle`]);
    }
    ready.add(next.name);
    ordered.push(next);
  }
  return ordered;
}

/** The names of the plugins in a cycle, without those that merely require one of them. */
function cycleIn(waiting: readonly Plugin[]): string {
  const required = new Set(waiting.flatMap((plugin) => plugin.requires));
  const inCycle = waiting.filter((plugin) => required.has(plugin.name));
  return inCycle.length < waiting.length
    ? cycleIn(inCycle)
    : waiting.map((plugin) => plugin.name).join(', ');
}

/**
 * Sets up the plugins in the given order, and checks what they contribute.
 *
 * @throws LoaderError with every fault
 */
export function setUpPlugins(
  plugins: readonly Plugin[],
  setUp: (plugin: Plugin) => PluginRuntime,
): SetUpPlugin[] {
  const contributions = plugins.map((plugin) => ({ plugin, contribution: setUp(plugin) }));
  const all = contributions.map(({ plugin, contribution }) => ({
    plugin,
    contribution,
    operations: withStates(contribution.operations?.() ?? []),
  }));
  const faults = contributionFaults(all);
  if (faults.length > 0) throw new LoaderError(faults);
  return all;
}

/** Gives each PATCH and DELETE the handler of the GET at its path, which reads the record for If-Match. */
function withStates(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    if (operation.state || !['PATCH', 'DELETE'].includes(operation.method)) return operation;
    const read = operations.find(({ method, path }) => method === 'GET' && path === operation.path);
    return read && isConditional(read)
      ? { ...operation, state: (call) => read.handler(call) }
      : operation;
  });
}
