import { fakeDate, realDate } from '../support/program';

/** Lets the test and the program take it to be this moment until the clock is set anew. */
export function setClock(moment: string | number): void {
  fakeDate(moment);
  // Everything but Date: the timers of the drivers go on as they are.
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
