import { type Clock, withGlobal } from '@sinonjs/fake-timers';

let clock: Clock | undefined;

/** Sets the date of the program, but not its timers. */
export function fakeDate(moment: string | number): void {
  realDate();
  clock = withGlobal(globalThis).install({ now: new Date(moment), toFake: ['Date'] });
}

export function realDate(): void {
  clock?.uninstall();
  clock = undefined;
}
