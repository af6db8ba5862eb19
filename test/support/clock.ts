/** Lets the program, which runs in this process, take it to be this moment until the clock is set anew. */
export function setClock(moment: string | number): void {
  jest.useFakeTimers({
    now: new Date(moment),
    // Everything but Date: the timers of the servers and the drivers go on as they are.
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
  jest.useRealTimers();
}
