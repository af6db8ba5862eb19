import { dueCare } from '../../../examples/offline-client/due';
import type { Copy as GuideCopy } from '../../../examples/offline-client/types';
import { canonicalJson } from '../../../src/core/values';
import type { Copy } from '../../support/copy';
import { same } from '../actor';
import type { Item } from './plain-care';

/** Compares the days that the guide computes from a copy with the items of `GET /api/care`. */
export function sameByGuide(copy: Copy, timezone: string, items: readonly Item[]): void {
  // The records are those of the API.
  const guideCopy = {
    plants: Object.fromEntries(copy.plants),
    schedules: Object.fromEntries(copy.schedules),
    events: Object.fromEntries(copy.events),
    photos: {},
    snoozes: [...copy.snoozes.values()],
  } as unknown as GuideCopy;
  const listed = items.map(({ plantId, scheduleId, care, label, dueOn }) => {
    return { plantId, scheduleId, care, label, dueOn };
  });
  same(sorted(dueCare(guideCopy, timezone)), sorted(listed), 'due care by the guide');
}

function sorted(items: readonly object[]): string[] {
  return items.map(canonicalJson).sort();
}
