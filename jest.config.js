'use strict';

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/plugins', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.(t|j)s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
      },
    ],
  },
  // uuid is published as ES modules only, and MongoDB's driver imports `os` as one: Jest loads
  // neither by itself.
  transformIgnorePatterns: ['/node_modules/(?!uuid/|(?:.*/)?mongodb/lib/runtime_adapters\\.js$)'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  // Generous: a machine that is busy with other things must not make a right answer look wrong.
  testTimeout: 120_000,
  maxWorkers: 2,
};
