import { type Clock, withGlobal } from '@sinonjs/fake-timers';

let clock: Clock | undefined;

/** Lets the program take it to be this moment; its timers go on as they are. */
export function fakeDate(moment: string | number): void {
  realDate();
  clock = withGlobal(globalThis).install({ now: new Date(moment), toFake: ['Date'] });
}

export function realDate(): void {
  clock?.uninstall();
  clock = undefined;
}
