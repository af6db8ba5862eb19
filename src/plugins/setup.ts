import { LoaderError } from './loader';
import type { Operation } from './operation';
import { isConditional } from './operation-facts';
import type { PluginRuntime, Plugin, SetUpPlugin } from './plugin';
import type { PluginReference } from './host';
import { contributionFaults } from './rules/contributions';

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
  refuse(contributionFaults(all));
  return all;
}

/** @throws LoaderError if a plugin uses another that it does not require */
export function requirePlugin(plugin: Plugin, other: PluginReference): void {
  if (plugin.requires.includes(other.name)) return;
  refuse([`plugins/${plugin.name}: uses ${other.name} without requiring it`]);
}

/** @throws LoaderError if a plugin uses contributions that it does not collect */
export function requireCollected({ name, collects = [] }: Plugin, kind: 'changes'): void {
  if (!collects.includes(kind)) refuse([`plugins/${name}: uses ${kind} without collecting them`]);
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new LoaderError(faults);
}

/** Gives each PATCH and DELETE the handler of the GET at its path, which reads the record for If-Match. */
function withStates(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    if (operation.state || !['PATCH', 'DELETE'].includes(operation.method)) return operation;
    const read = operations.find(({ method, path }) => method === 'GET' && path === operation.path);
    return read && isConditional(read) ? { ...operation, state: read.handler } : operation;
  });
}
