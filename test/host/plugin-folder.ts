import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SRC = path.resolve(__dirname, '../../src');

/** What the modules of fixtures may use: the host's own classes, as real plugins import them. */
const PRELUDE = [
  `const { rateSetting, countSetting } = require(${JSON.stringify(path.join(SRC, 'core/settings/settings'))});`,
  `const { ErrorCode } = require(${JSON.stringify(path.join(SRC, 'core/errors'))});`,
  `const { Schema } = require(${JSON.stringify(require.resolve('mongoose'))});`,
].join('\n');

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The JavaScript of a manifest: a good one, but for the properties given as text. */
export function manifest(name: string, properties = ''): string {
  return `${PRELUDE}
exports.default = {
  name: ${JSON.stringify(name)},
  requires: [],
  setup: () => ({ exports: undefined }),
  ${properties}
};`;
}

/** A folder of plugins, each folder with an index.js of this text; removed after the tests. */
export function pluginFolder(modules: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'plugins-test-'));
  folders.push(root);
  for (const [name, text] of Object.entries(modules)) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'index.js'), text);
  }
  return root;
}
