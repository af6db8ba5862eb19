import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json: that above the sources, and so above the build. */
export const PROJECT_FOLDER = above(__dirname);

// This very project's package.json, which names them all.
const { name, version, license, engines } = JSON.parse(
  readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8'),
) as { name: string; version: string; license: string; engines: { node: string } };

/** What the program is called, and which release of it this is. */
export const PROJECT = { name, version };

/** The versions of Node that it runs on: `>=20.19`. */
export const NODE_VERSIONS = engines.node;
/** The terms of its use. */
export const LICENSE = license;

function above(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above the program.');
  return above(parent);
}
