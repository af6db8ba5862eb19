'use strict';

const { statSync } = require('node:fs');
const { builtinModules, createRequire } = require('node:module');
const path = require('node:path');

const { default: Runtime } = require('jest-runtime');

/** Names that Jest answers by itself. */
const BY_JEST = new Set([...builtinModules, '@jest/globals']);

const ROOT = path.resolve(__dirname, '../../..');
/** The program, with the plugins that only tests have, and what keeps its documents. */
const PROGRAM =
  /^(?:(?:src|plugins(?!\/[^/]+\/test\/)|test\/fixtures)\/.*(?<![.]test)|test\/support\/conformance)[.]ts$/;

/** The program's modules that this worker has loaded. */
const loaded = new Map();

/**
 * Loads packages and the program once for all test files of a worker, and as Node does; Jest loads
 * them anew for each file, which takes time by itself, and their code then never runs long enough
 * to be optimized. The tests' own modules stay each file's own.
 */
class SharingRuntime extends Runtime {
  constructor(config, environment, resolver, transformer, ...others) {
    super(config, environment, resolver, transformer, ...others);
    forgetWhenEdited();
    for (const [file, { sourceMapPath }] of loaded) this.getSourceMaps().set(file, sourceMapPath);
    require.extensions['.ts'] = (module, file) => {
      const { code, sourceMapPath } = transformer.transform(file, {});
      loaded.set(file, { sourceMapPath, mtimeMs: statSync(file).mtimeMs });
      this.getSourceMaps().set(file, sourceMapPath);
      module._compile(code, file);
    };
  }

  requireModuleOrMock(from, name) {
    if (name.startsWith('node:') || BY_JEST.has(name)) return super.requireModuleOrMock(from, name);
    const requireFrom = createRequire(from);
    const isShared =
      !name.startsWith('.') || PROGRAM.test(path.relative(ROOT, requireFrom.resolve(name)));
    return isShared ? requireFrom(name) : super.requireModuleOrMock(from, name);
  }
}

/** In watch mode a worker may outlive an edit; what is gone is a copy of the program that a test has made. */
function forgetWhenEdited() {
  const isEdited = ([file, { mtimeMs }]) =>
    (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? mtimeMs) !== mtimeMs;
  if (![...loaded].some(isEdited)) return;
  for (const file of loaded.keys()) delete require.cache[file];
  loaded.clear();
}

module.exports = { __esModule: true, default: SharingRuntime };
