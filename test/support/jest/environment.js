'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');
const vm = require('node:vm');

const { TestEnvironment } = require('jest-environment-node');

/** What stands for Node's own global scope where Jest asks for a context. */
const ownContexts = new WeakSet();

const { compileFunction } = vm;
// Jest compiles every module for a context of `node:vm`; only here can it be given none.
vm.compileFunction = (code, parameters, options) => {
  const { parsingContext, ...rest } = options ?? {};
  return ownContexts.has(parsingContext)
    ? compileFunction(code, parameters, rest)
    : compileFunction(code, parameters, options);
};

/** Storages in use: Jest makes one for each test file and never gives it up. */
const storages = new Set();

const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function recorded(...given) {
  storages.add(this);
  return Reflect.apply(run, this, given);
};

/**
 * Runs tests in Node's own global scope. In Jest's, which is a context behind a proxy, each use of
 * a global such as `Buffer` or `Promise` costs a detour, and packages have to be loaded anew for
 * each test file (see runtime.js): together more than a third of all the time that tests take.
 * What a test file leaves in the global scope is taken away after it.
 */
class NativeEnvironment extends TestEnvironment {
  #globals = new Set(Reflect.ownKeys(globalThis));
  #env = { ...process.env };
  #exit = process.exit;
  #console = globalThis.console;

  constructor(config, context) {
    super(config, context);
    ownContexts.add(this.context);
    this.global = globalThis;
    // Those of the parent belong to its own context, and have changed nothing yet.
    const { moduleMocker, fakeTimersModern } = this;
    this.moduleMocker = new moduleMocker.constructor(globalThis);
    this.fakeTimersModern = new fakeTimersModern.constructor({
      config: config.projectConfig,
      global: globalThis,
    });
    this.fakeTimers = null;
  }

  async teardown() {
    await super.teardown();
    // Each costs every promise that is made some time.
    for (const storage of storages) storage.disable();
    storages.clear();
    for (const key of Reflect.ownKeys(globalThis)) {
      if (!this.#globals.has(key)) Reflect.deleteProperty(globalThis, key);
    }
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#env)) delete process.env[name];
    }
    Object.assign(process.env, this.#env);
    process.exit = this.#exit;
    globalThis.console = this.#console;
  }
}

module.exports = NativeEnvironment;
