import path from 'node:path';

import { PROJECT_FOLDER } from '../../src/core/settings/project';

/** The folder of the build that global-setup.ts makes for tests. */
const BUILD = path.join(PROJECT_FOLDER, 'dist-test');

/** The built program. */
export function builtProgram(): string {
  return BUILD;
}
