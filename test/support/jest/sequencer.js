'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

/** Suites that wait for processes to start and end, or for what hangs. */
const WAITING = /\/test\/(servers|faults|cli)\//;

/** Takes by turns a suite that waits and one that computes, so that processors are never idle. */
class TakingTurnsSequencer extends Sequencer {
  sort(tests) {
    const all = [...super.sort(tests)];
    const waiting = all.filter(({ path }) => WAITING.test(path));
    const computing = all.filter(({ path }) => !WAITING.test(path));
    return [...waiting.flatMap((test) => [test, ...computing.splice(0, 1)]), ...computing];
  }
}

module.exports = TakingTurnsSequencer;
