import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json, above the sources and the build. */
export const PROJECT_FOLDER = above(__dirname);

// All are in this project's package.json.
const { name, version, license } = JSON.parse(
  readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8'),
) as { name: string; version: string; license: string };

/** The name and the release of the program. */
export const PROJECT = { name, version };

export const LICENSE = license;

function above(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('No package.json above the program.');
  return above(parent);
}

/** The release whose data this one opens, and migrates. */
const PREVIOUS_RELEASE = '1.2.0';

/** Why data of a release before that one is refused. @param data such as "The data" */
export function tooOld(data: string): string {
  return `${data} is of a release before ${PREVIOUS_RELEASE}: open it with ${PREVIOUS_RELEASE}, which migrates it, before this release.`;
}
