import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT_FOLDER } from '../../src/core/project';

/** The folder of the build that global-setup.ts makes for tests. */
const BUILD = path.join(PROJECT_FOLDER, 'dist-test');

/** The built program. */
export function builtProgram(): string {
  return BUILD;
}

/** A copy of it that says to be another release; to be removed afterwards. */
export function builtRelease(version: string): string {
  // Below the packages, so that the copy finds them.
  const release = path.join(PROJECT_FOLDER, 'dist-test', `release-${randomUUID()}`);
  for (const folder of ['src', 'plugins']) {
    cpSync(path.join(BUILD, folder), path.join(release, folder), { recursive: true });
  }
  const about = JSON.parse(
    readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8'),
  ) as object;
  writeFileSync(path.join(release, 'package.json'), JSON.stringify({ ...about, version }));
  return release;
}
