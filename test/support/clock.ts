import { fakeDate, realDate } from '../support/program';

/** Sets the date of the test and of the program until it is set again. */
export function setClock(moment: string | number): void {
  fakeDate(moment);
  // Everything but Date: drivers need their timers.
  jest.useFakeTimers({
    now: new Date(moment),
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
}

export function resetClock(): void {
  realDate();
  jest.useRealTimers();
}
