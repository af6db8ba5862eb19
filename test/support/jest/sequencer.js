'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

/** Suites that wait for processes to start and end. */
const WAITING = /\/test\/(servers|faults|cli)\//;

/** Begins with those that wait most, so that others compute meanwhile and none is left at the end. */
class WaitingFirstSequencer extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort(
      (a, b) => Number(WAITING.test(b.path)) - Number(WAITING.test(a.path)),
    );
  }
}

module.exports = WaitingFirstSequencer;
