'use strict';

/** What tests get as test/support/program: its modules as Node has loaded them (see environment.ts). */
module.exports = globalThis.programModules;
