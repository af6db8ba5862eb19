import { idText } from '../../../src/core/ids';
import { newestFirst } from '../../../src/data/page';
import type { EventDocument } from '../schema';

/** The order of lists of events. */
export const LIST_ORDER = newestFirst('occurredAt');

/** Whether an event comes before another in {@link LIST_ORDER}. */
export function isBefore(a: EventDocument, b: EventDocument): boolean {
  const apart = b.occurredAt.getTime() - a.occurredAt.getTime();
  return apart === 0 ? idText(a._id) < idText(b._id) : apart < 0;
}
