'use strict';

/** Suites that wait for processes to start and end, or for what hangs. */
module.exports = /\/test\/(servers|faults|cli|backup|model|bench|hostile|deploy|clients|docs)\//;
