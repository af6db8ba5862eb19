import type { Settings } from '../core/settings/settings';

export interface Finding {
  check: string;
  ok: boolean;
  /** The state; for a fault, one sentence that says what to do. */
  finding: string;
}

/** A check that needs no MongoDB and no Redis. */
export type OfflineCheck = (settings: Settings) => Promise<Finding[]>;

export function good(check: string, finding: string): Finding {
  return { check, ok: true, finding };
}

/** Returns the finding of a check that failed; `finding` is a sentence that says what to do. */
export function fault(check: string, finding: string): Finding {
  return { check, ok: false, finding };
}
