import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import pino from 'pino';

import { App } from '../../src/app/app';
import { loadPlugins, LoaderError, PLUGINS_FOLDER } from '../../src/plugins/loader';

const ROOT = path.resolve(__dirname, '../..');

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The program without the folder of one plugin: it starts, or says why it does not. */
function startWithout(removed: string): App | string {
  const root = mkdtempSync(path.join(tmpdir(), 'removed-plugin-'));
  folders.push(root);
  cpSync(PLUGINS_FOLDER, path.join(root, 'plugins'), {
    recursive: true,
    filter: (file) => !file.endsWith('.test.ts') && path.relative(PLUGINS_FOLDER, file) !== removed,
  });
  // The host is the same for all, so that its classes are.
  for (const name of ['src', 'node_modules']) {
    symlinkSync(path.join(ROOT, name), path.join(root, name));
  }
  try {
    const plugins = loadPlugins(path.join(root, 'plugins'));
    return new App({ plugins, env: {}, log: pino({ level: 'silent' }) });
  } catch (error) {
    if (error instanceof LoaderError) return error.message;
    throw error;
  }
}

const plugins = loadPlugins();

test.each(readdirSync(PLUGINS_FOLDER))(
  'without the folder of %s the program refuses to start, or runs without it',
  (removed) => {
    const dependents = plugins.filter(({ requires }) => requires.includes(removed));
    const started = startWithout(removed);
    if (typeof started === 'string') {
      for (const { name } of dependents) {
        expect(started).toContain(
          `plugins/${name}: needs the plugin ${removed}, which is not there`,
        );
      }
      // Without accounts nobody could say who calls, whatever requires them.
      if (dependents.length === 0) expect(started).toContain('identity');
    } else {
      expect(dependents).toEqual([]);
      const others = plugins.filter(({ name }) => name !== removed).map(({ name }) => name);
      expect(started.plugins.map(({ plugin }) => plugin.name)).toEqual(others);
    }
  },
);
