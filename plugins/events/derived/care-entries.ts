import { setImmediate } from 'node:timers/promises';

import type { StoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/changes';
import type { AccountScope } from '../../../src/data/models';
import type { Records } from '../../../src/data/records';
import type { EventDocument } from '../schema';

/** In how many parts events come that are alike: two million in one would not fit into a document. */
const SHARES = 16;
/** After how many entries others get their turn: a few milliseconds of what is done with them. */
const TURN_SIZE = 2000;

/**
 * The moments of the events that a filter lets through, with the other fields that are asked for.
 * MongoDB gathers events that are alike in these, since a million single documents cost the driver
 * many times as much.
 */
export async function* careEntries<Name extends keyof EventDocument>(
  events: Records<EventDocument, AccountScope>,
  scope: AccountScope,
  filter: { plantId?: { $in: StoredId[] }; type?: EventDocument['type'] },
  names: readonly Name[],
): AsyncGenerator<Pick<EventDocument, Name> & Pick<EventDocument, 'occurredAt'>> {
  const alike = events.aggregate<{ _id: { of: Pick<EventDocument, Name> }; moments: Date[] }>(
    scope,
    { ...filter, ...LIVE },
    [
      {
        $group: {
          _id: {
            of: Object.fromEntries(names.map((name) => [name, `$${name}`])),
            // All of them may be alike, even in their moments: only chance divides those evenly.
            share: { $floor: { $multiply: [{ $rand: {} }, SHARES] } },
          },
          moments: { $push: '$occurredAt' },
        },
      },
    ],
  );
  let given = 0;
  for await (const { _id, moments } of alike) {
    for (const occurredAt of moments) {
      yield { ..._id.of, occurredAt };
      given += 1;
      if (given % TURN_SIZE === 0) await setImmediate();
    }
  }
}
