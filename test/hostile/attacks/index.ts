import type { Attack, Target } from './attack';
import { CALL_ATTACKS } from './calls';
import { CONNECTION_ATTACKS, TLS_ATTACKS } from './connections';

export type { Target } from './attack';

/** Those by an account's own token, which must get further than to be refused for it. */
export const CALLS: ReadonlySet<string> = new Set(Object.keys(CALL_ATTACKS));

/** All that can be tried on a target, by what it is. */
export function attacksOn({ ca }: Pick<Target, 'ca'>): [name: string, attack: Attack][] {
  const overTls = ca === undefined ? {} : TLS_ATTACKS;
  return Object.entries({ ...CALL_ATTACKS, ...CONNECTION_ATTACKS, ...overTls });
}
