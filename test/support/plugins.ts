import path from 'node:path';

import { loadPlugins, PLUGINS_FOLDER } from '../../src/plugins/loader';
import type { Plugin } from '../../src/plugins/plugin';

/** Plugins for tests only: a resource as a new contributor would add it. */
const FIXTURES_FOLDER = path.resolve(__dirname, '../fixtures');

/** The program's plugins and those of the fixtures, since tests must hold for any resource. */
export function pluginsUnderTest(): Plugin[] {
  return loadPlugins(PLUGINS_FOLDER, FIXTURES_FOLDER);
}
