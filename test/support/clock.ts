import { fakeDate, realDate } from '../support/program';
import type { TestService } from './service';

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

/** Runs jobs at some moments, one after the other. */
export async function runJobsAt(
  { runJob }: Pick<TestService, 'runJob'>,
  jobs: readonly string[],
  moments: readonly string[],
): Promise<void> {
  for (const moment of moments) {
    setClock(moment);
    for (const job of jobs) await runJob(job);
  }
}

export function resetClock(): void {
  realDate();
  jest.useRealTimers();
}
