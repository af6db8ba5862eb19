import { DomainEvent } from '../../src/data/writing/transaction';
import type { EventDocument } from './schema';

/** How one event changed: added (`after` alone), deleted (`before` alone) or changed (both). */
export interface CareChange {
  before?: EventDocument;
  after?: EventDocument;
}

/** Events were added, deleted or changed. */
export const careChanged = new DomainEvent<readonly CareChange[]>('care.changed');
