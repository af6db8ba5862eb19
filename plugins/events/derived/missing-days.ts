import type { DerivedData } from '../../../src/data/derived';
import type { Tenant } from '../../../src/data/models';
import type { Records } from '../../../src/data/records';
import { anyOf, type StoredId } from '../../../src/core/ids';
import { dayFor } from '../new-event';
import type { EventDocument } from '../schema';

/** As many as `$in` may well name, and memory holds. */
const CHUNK = 1000;

/** The calendar days of events that a release before 1.1.0, which knows of none, wrote beside this one. */
export function missingDays(events: Records<EventDocument, Tenant>): DerivedData {
  const without = { occurredOn: { $exists: false } };
  return {
    name: 'days of events',
    rebuild: async (tx) => {
      let count = 0;
      for (;;) {
        const found = await events.find(tx, without, { limit: CHUNK });
        if (found.length === 0) break;
        count += found.length;
        const byDay = new Map<string, StoredId[]>();
        for (const { _id, occurredAt } of found) {
          const day = dayFor(tx.account, occurredAt);
          byDay.set(day, [...(byDay.get(day) ?? []), _id]);
        }
        for (const [occurredOn, ids] of byDay) {
          await events.updateWithoutRevision(tx, { _id: anyOf(ids) }, { $set: { occurredOn } });
        }
      }
      return count === 0 ? [] : [`missing from ${count} events, should be from none`];
    },
  };
}
