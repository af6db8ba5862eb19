'use strict';

const WAITING = require('./test/support/jest/waiting.js');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.ts',
  roots: ['<rootDir>/src', '<rootDir>/plugins', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // They are a fifth of the tests, and more than half of the time.
  testPathIgnorePatterns: process.env['TESTS'] === 'quick' ? [WAITING.source] : [],
  transform: {
    '^.+\\.[jt]s$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
      },
    ],
  },
  // ECMAScript modules, which Jest cannot load as Node does, and what imports one when it needs it.
  transformIgnorePatterns: ['/node_modules/(?!(?:uuid|mongodb)/)'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/jest/closing-line.js'],
  // Generous: a machine that is busy with other things must not make a right answer look wrong.
  testTimeout: 120_000,
  // On two processors: about two wait for processes while the others compute. More of them make all
  // slower: a suite that has to share a processor takes half as much of it again.
  maxWorkers: 4,
  testSequencer: '<rootDir>/test/support/jest/sequencer.js',
};
