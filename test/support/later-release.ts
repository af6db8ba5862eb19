import type { Plugin } from '../../src/plugins/plugin';
import { changeInChunks } from '../../src/data/schema/migrating';
import { pluginsUnderTest } from './plugins';

export const LATER_MIGRATION = 'changes/0001-seen';

/**
 * The plugins of a release with one more migration, which marks events, three at a time.
 *
 * @param before runs before each three
 */
export function laterPlugins(before: () => Promise<void> = () => Promise.resolve()): Plugin[] {
  const migration = {
    name: '0001-seen',
    run: async (run) => {
      const events = run.collection('events');
      await changeInChunks(run, events, 3, async (ids) => {
        await before();
        await events.updateMany({ _id: ids }, { $set: { isSeen: true } });
      });
    },
  } satisfies NonNullable<Plugin['migrations']>[number];
  // No other plugin uses it, so it can be replaced.
  return pluginsUnderTest().map((each) =>
    each.name === 'changes' ? { ...each, migrations: [migration] } : each,
  );
}
