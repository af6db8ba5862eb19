'use strict';

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.ts',
  roots: ['<rootDir>/src', '<rootDir>/plugins', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.[jt]s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
      },
    ],
  },
  // As test/support/environment.ts has loaded it.
  moduleNameMapper: {
    '^(?:\\.\\./)+(?:test/)?support/program$': '<rootDir>/test/support/loaded-program.js',
  },
  // ECMAScript modules, which Jest loads only on newer Nodes, and what imports one when it needs it.
  transformIgnorePatterns: [
    '/node_modules/(?!(?:jose|oauth4webapi|openid-client|uuid|mongodb|p-limit|temporal-polyfill|temporal-utils|yocto-queue)/)',
  ],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  // The only patience that is counted in time: a busy machine must not make a right answer look wrong.
  testTimeout: 300_000,
  // The program runs built (test/support/environment.ts); what tests of the inside load, runs as it is.
  coverageProvider: 'v8',
  collectCoverageFrom: ['{,dist-test/}{src,plugins}/**/*.{js,ts}', '!**/*.test.ts', '!**/test/**'],
  coverageReporters: ['html', 'text-summary'],
  maxWorkers: 3,
};
