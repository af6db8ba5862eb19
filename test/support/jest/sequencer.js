'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

const WAITING = require('./waiting.js');

/** What part of the run those are spread over: some are long, and none should be left at the end. */
const SPREAD = 0.8;

/** Places at its multiples, less their whole part, are spread evenly, however many there are. */
const GOLDEN_RATIO = 0.618034;

/**
 * Spreads suites that wait among those that compute, so that processors are never idle. Jest gives
 * the longest first: those of suites that wait are spread too, or one would wait for the other.
 */
class SpreadingSequencer extends Sequencer {
  sort(tests) {
    const all = [...super.sort(tests)];
    const waiting = all.filter(({ path }) => WAITING.test(path));
    const computing = all.filter(({ path }) => !WAITING.test(path));
    const places = [
      ...waiting.map((test, index) => ({ test, place: ((index * GOLDEN_RATIO) % 1) * SPREAD })),
      ...computing.map((test, index) => ({ test, place: index / computing.length })),
    ];
    return places.sort((a, b) => a.place - b.place).map(({ test }) => test);
  }
}

module.exports = SpreadingSequencer;
