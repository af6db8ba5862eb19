import type { DerivedData } from '../../../src/data/writing/derived';
import type { OwnedModel } from '../../../src/data/model/owner';
import { anyOf, type StoredId } from '../../../src/core/ids';
import { dayFor } from '../service';
import type { EventDocument } from '../schema';

/** Events per query. */
const CHUNK = 1000;

/** Adds calendar days to events that a release before 1.1.0 wrote while this one was running. */
export function missingDays(events: OwnedModel<EventDocument>): DerivedData {
  const without = { occurredOn: { $exists: false } };
  return {
    name: 'days of events',
    rebuild: async (tx) => {
      let count = 0;
      for (;;) {
        const found = await events.find(without).of(tx).limit(CHUNK).lean();
        if (found.length === 0) break;
        count += found.length;
        const byDay = new Map<string, StoredId[]>();
        for (const { _id, occurredAt } of found) {
          const day = dayFor(tx.account, occurredAt);
          byDay.set(day, [...(byDay.get(day) ?? []), _id]);
        }
        for (const [occurredOn, ids] of byDay) {
          const dated = events.updateMany({ _id: anyOf(ids) }, { $set: { occurredOn } });
          await dated.of(tx).setOptions({ tracked: false });
        }
      }
      return count === 0 ? [] : [`missing from ${count} events, should be from none`];
    },
  };
}
