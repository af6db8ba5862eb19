import path from 'node:path';

import { loadPlugins, PLUGINS_FOLDER } from '../../src/plugins/loader';
import type { Plugin } from '../../src/plugins/plugin';

/** Plugins that no release has: a resource as a newcomer would add it. */
export const FIXTURES_FOLDER = path.resolve(__dirname, '../fixtures');

/** The program's own plugins and those of the fixtures: tests must hold for any resource. */
export function pluginsUnderTest(): Plugin[] {
  return loadPlugins(PLUGINS_FOLDER, FIXTURES_FOLDER);
}
