import type { Attack, Target } from './attack';
import { CALL_ATTACKS } from './calls';
import { CONNECTION_ATTACKS, TLS_ATTACKS } from './connections';

export type { Target } from './attack';

/** Attacks with a valid token, which must get past authentication. */
export const CALLS: ReadonlySet<string> = new Set(Object.keys(CALL_ATTACKS));

/** All attacks on a target, by name. */
export function attacksOn({ ca }: Pick<Target, 'ca'>): [name: string, attack: Attack][] {
  const overTls = ca === undefined ? {} : TLS_ATTACKS;
  return Object.entries({ ...CALL_ATTACKS, ...CONNECTION_ATTACKS, ...overTls });
}
