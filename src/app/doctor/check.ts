import type { Settings } from '../../core/settings/settings';
import type { Servers } from '../../servers';
import type { App } from '../app';

export interface Finding {
  check: string;
  ok: boolean;
  /** The state; for a fault, one sentence that says what to do. */
  finding: string;
}

/** A check that needs no server. */
export type OfflineCheck = (settings: Settings) => Promise<Finding[]>;

/** A check that needs MongoDB and Redis. */
export type OnlineCheck = (running: { app: App; servers: Servers }) => Promise<Finding[]>;

export function good(check: string, finding: string): Finding {
  return { check, ok: true, finding };
}

/** Returns the finding of a check that failed; `finding` is a sentence that says what to do. */
export function fault(check: string, finding: string): Finding {
  return { check, ok: false, finding };
}
