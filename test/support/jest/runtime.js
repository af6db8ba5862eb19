'use strict';

const { builtinModules, createRequire } = require('node:module');

const { default: Runtime } = require('jest-runtime');

/** Names that Jest answers by itself. */
const NOT_A_PACKAGE = /^[./]|^node:|^@jest\/globals$/;

/**
 * Loads packages once for all test files of a worker, and as Node does; Jest loads the nine hundred
 * modules of MongoDB's driver and the others anew for each file. The program's own modules and the
 * tests' stay each file's own.
 */
class PackageSharingRuntime extends Runtime {
  requireModuleOrMock(from, name) {
    if (NOT_A_PACKAGE.test(name) || builtinModules.includes(name)) {
      return super.requireModuleOrMock(from, name);
    }
    return createRequire(from)(name);
  }
}

module.exports = { __esModule: true, default: PackageSharingRuntime };
