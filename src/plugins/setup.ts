import { LoaderError } from './loader';
import type { Operation } from './operation';
import { isConditional } from './operation-facts';
import type { PluginRuntime, Plugin, SetUpPlugin } from './plugin';
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
  const faults = contributionFaults(all);
  if (faults.length > 0) throw new LoaderError(faults);
  return all;
}

/** Gives each PATCH and DELETE the handler of the GET at its path, which reads the record for If-Match. */
function withStates(operations: readonly Operation[]): Operation[] {
  return operations.map((operation) => {
    if (operation.state || !['PATCH', 'DELETE'].includes(operation.method)) return operation;
    const read = operations.find(({ method, path }) => method === 'GET' && path === operation.path);
    return read && isConditional(read) ? { ...operation, state: read.handler } : operation;
  });
}
