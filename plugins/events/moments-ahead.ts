import { HOUR_MS } from '../../src/core/time';
import { LIVE } from '../../src/data/model/models';
import type { DataCheck } from '../../src/plugins/plugin';
import type { EventContext } from './context';
import { MAX_HOURS_AHEAD } from './schema';

const AHEAD = `more than ${MAX_HOURS_AHEAD} hours ahead`;

/** Finds events further ahead than is allowed, which earlier versions accepted. */
export function momentsAhead({ model }: EventContext): DataCheck {
  return {
    name: 'moments of events',
    count: (userId) => {
      const latest = new Date(Date.now() + MAX_HOURS_AHEAD * HOUR_MS);
      return model
        .countDocuments({ ...LIVE, occurredAt: { $gt: latest } })
        .of({ userId })
        .exec();
    },
    good: `none is ${AHEAD}`,
    fault: (count, whose) =>
      `Events are ${AHEAD}, which hides their plants from due care (${count}, of ${whose}): ask these people to correct or delete them; GET /api/events lists them first.`,
  };
}
