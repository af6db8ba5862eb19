'use strict';

/** Suites that wait for processes to start and end, or for what hangs. */
module.exports = /\/test\/(servers|faults|cli|backup|bench|hostile|deploy|clients|docs)\//;
