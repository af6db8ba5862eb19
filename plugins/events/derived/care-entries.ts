import { setImmediate } from 'node:timers/promises';

import type { StoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/changes';
import type { AccountScope } from '../../../src/data/models';
import type { Records } from '../../../src/data/records';
import type { CareEntry, EventDocument, EventType } from '../schema';

/** Events that differ in nothing but their moments. */
interface AlikeEvents {
  _id: Omit<CareEntry, 'occurredAt'> & { plantId: StoredId };
  moments: Date[];
}

/** About how many moments are in a document: a million and more would not fit into one. */
const GROUP_SIZE = 20_000;
/** After how many entries others get their turn: a few milliseconds of what is done with them. */
const TURN_SIZE = 2000;

/**
 * What counts towards totals of the events that a filter lets through. MongoDB gathers events that
 * are alike, since a million single documents cost the driver many times as much.
 */
export async function* careEntries(
  events: Records<EventDocument, AccountScope>,
  scope: AccountScope,
  filter: { plantId?: { $in: StoredId[] }; type?: EventType },
): AsyncGenerator<CareEntry & { plantId: StoredId }> {
  const live = { ...filter, ...LIVE };
  const groups = Math.ceil((await events.count(scope, live)) / GROUP_SIZE);
  const alike = events.aggregate<AlikeEvents>(scope, live, [
    {
      $group: {
        _id: {
          plantId: '$plantId',
          type: '$type',
          growthAmount: '$growthAmount',
          growthUnit: '$growthUnit',
          // All of them may be alike, even in their moments: only chance divides those evenly.
          share: { $floor: { $multiply: [{ $rand: {} }, groups] } },
        },
        moments: { $push: '$occurredAt' },
      },
    },
  ]);
  let given = 0;
  for await (const { _id, moments } of alike) {
    const { plantId, type, growthAmount, growthUnit } = _id;
    for (const occurredAt of moments) {
      yield { plantId, type, growthAmount, growthUnit, occurredAt };
      given += 1;
      if (given % TURN_SIZE === 0) await setImmediate();
    }
  }
}
