import { createRequire } from 'node:module';
import path from 'node:path';

import { TestEnvironment } from 'jest-environment-node';

import type * as ProgramModules from './program';

// Built by global-setup.ts. Node loads it, once for all test files of this worker: in Jest's sandbox
// it takes three seconds for each.
export const MODULES = path.resolve(__dirname, '../../dist-test/test/support/program');

// Jest ends a worker by disconnecting it, but open handles would keep it running.
if (process.send) {
  process.on('removeListener', (event) => {
    if (event === 'message') process.exit();
  });
}

/** Jest's own environment for Node, with the program that this worker has loaded. */
export default class ProgramEnvironment extends TestEnvironment {
  readonly #modules = createRequire(__filename)(MODULES) as typeof ProgramModules; // What was compiled to it.

  override async setup(): Promise<void> {
    await super.setup();
    this.global['programModules'] = this.#modules;
  }

  override async teardown(): Promise<void> {
    this.#modules.realDate();
    await super.teardown();
  }
}
