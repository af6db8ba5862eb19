import { DomainEvent } from '../../src/data/domain-event';
import type { CareEntry } from './schema';

/** How one event changed: added (`after` alone), deleted (`before` alone) or changed (both). */
export interface CareChange {
  before?: CareEntry;
  after?: CareEntry;
}

/** Events of one plant were added, deleted or changed. */
export const careChanged = new DomainEvent<{ plantId: string; changes: readonly CareChange[] }>(
  'care.changed',
);
