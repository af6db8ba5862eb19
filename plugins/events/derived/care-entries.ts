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

/** A little over a year: the moments of one plant's waterings in a span must fit into a document. */
const SPAN_MS = 2 ** 35;

/**
 * What counts towards totals of the events that a filter lets through. MongoDB gathers events that
 * are alike, since a million single documents cost the driver many times as much.
 */
export async function* careEntries(
  events: Records<EventDocument, AccountScope>,
  scope: AccountScope,
  filter: { plantId?: { $in: StoredId[] }; type?: EventType },
): AsyncGenerator<CareEntry & { plantId: StoredId }> {
  const sinceEpoch = { $subtract: ['$occurredAt', new Date(0)] };
  const alike = events.aggregate<AlikeEvents>(scope, { ...filter, ...LIVE }, [
    {
      $group: {
        _id: {
          plantId: '$plantId',
          type: '$type',
          growthAmount: '$growthAmount',
          growthUnit: '$growthUnit',
          span: { $floor: { $divide: [sinceEpoch, SPAN_MS] } },
        },
        moments: { $push: '$occurredAt' },
      },
    },
  ]);
  for await (const { _id, moments } of alike) {
    const { plantId, type, growthAmount, growthUnit } = _id;
    for (const occurredAt of moments) {
      yield { plantId, type, growthAmount, growthUnit, occurredAt };
    }
  }
}
