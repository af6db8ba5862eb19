import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import pino from 'pino';
import { App, loadPlugins, LoaderError, PLUGINS_FOLDER } from '../support/program';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Starts the program without the folder of one plugin; returns why it refuses, if it does. */
function startWithout(removed: string): App | string {
  const folder = mkdtempSync(path.join(tmpdir(), 'removed-plugin-'));
  folders.push(folder);
  for (const name of readdirSync(PLUGINS_FOLDER)) {
    if (name !== removed) symlinkSync(path.join(PLUGINS_FOLDER, name), path.join(folder, name));
  }
  try {
    return new App({ plugins: loadPlugins(folder), env: {}, log: pino({ level: 'silent' }) });
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
        expect(started).toContain(`plugins/${name}: requires: there is no plugin ${removed}`);
      }
      // Without accounts, nothing could authenticate callers.
      if (dependents.length === 0) expect(started).toContain('identity');
    } else {
      expect(dependents).toEqual([]);
      const others = plugins.filter(({ name }) => name !== removed).map(({ name }) => name);
      expect(started.plugins.map(({ plugin }) => plugin.name)).toEqual(others);
    }
  },
);
