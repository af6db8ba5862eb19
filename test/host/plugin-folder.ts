import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SRC = path.resolve(__dirname, '../../src');

/** The modules that fixtures may use: the host's own classes, as real plugins import them. */
const PRELUDE = [
  `const { rateSetting, countSetting } = require(${JSON.stringify(path.join(SRC, 'core/settings/settings'))});`,
  `const { ErrorCode } = require(${JSON.stringify(path.join(SRC, 'core/errors'))});`,
  `const { Schema } = require(${JSON.stringify(require.resolve('mongoose'))});`,
].join('\n');

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The JavaScript of a valid manifest with some properties replaced, given as text. */
export function manifest(name: string, properties = ''): string {
  return `${PRELUDE}
exports.default = {
  name: ${JSON.stringify(name)},
  requires: [],
  setup: () => ({ exports: undefined }),
  ${properties}
};`;
}

/** Creates a folder of plugins, each with this index.js; it is removed after the tests. */
export function pluginFolder(modules: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'plugins-test-'));
  folders.push(root);
  for (const [name, text] of Object.entries(modules)) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'index.js'), text);
  }
  return root;
}
