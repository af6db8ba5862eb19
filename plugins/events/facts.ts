import type { ClientSession, mongo } from 'mongoose';

import type { StoredId } from '../../src/ids';
import type { EventDocument } from './model';
import type { EventType, GrowthUnit } from './schema';

/** What of an event counts towards totals. */
export interface CareFacts {
  type: EventType;
  occurredAt: Date;
  growthAmount: number | null;
  growthUnit: GrowthUnit | null;
}

/** Events that differ in nothing but their moments. */
interface AlikeEvents {
  _id: Omit<CareFacts, 'occurredAt'> & { plantId: StoredId };
  moments: Date[];
}

/** A little over a year: the moments of one plant's waterings in a span must fit into a document. */
const SPAN_MS = 2 ** 35;

/**
 * What counts of the events that a filter lets through, which names the account. MongoDB gathers
 * events that are alike, since a million single documents cost the driver many times as much.
 */
export async function* factsOf(
  events: mongo.Collection<EventDocument>,
  filter: mongo.Filter<EventDocument> & { userId: string },
  session: ClientSession,
): AsyncGenerator<CareFacts & { plantId: StoredId }> {
  const sinceEpoch = { $subtract: ['$occurredAt', new Date(0)] };
  const alike = events.aggregate<AlikeEvents>(
    [
      { $match: filter },
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
    ],
    { session, promoteBuffers: true, allowDiskUse: true, batchSize: 1000 },
  );
  for await (const { _id, moments } of alike) {
    const { plantId, type, growthAmount, growthUnit } = _id;
    for (const occurredAt of moments) {
      yield { plantId, type, growthAmount, growthUnit, occurredAt };
    }
  }
}
