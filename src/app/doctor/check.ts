import type { Settings } from '../../core/settings/settings';
import type { Servers } from '../../servers';
import type { App } from '../app';

/** What a check found. */
export interface Finding {
  /** What was looked at. */
  check: string;
  ok: boolean;
  /** How it is; where it is not right, one sentence that says what to do. */
  finding: string;
}

/** A check of what is there without any server. */
export type OfflineCheck = (settings: Settings) => Promise<Finding[]>;

/** A check of what is there with the servers up. */
export type OnlineCheck = (running: { app: App; servers: Servers }) => Promise<Finding[]>;

/** That all is well. */
export function good(check: string, finding: string): Finding {
  return { check, ok: true, finding };
}

/** That something is wrong; `finding` is a sentence with what to do. */
export function fault(check: string, finding: string): Finding {
  return { check, ok: false, finding };
}
