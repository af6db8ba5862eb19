import { HOUR_MS } from '../../src/core/time';
import { LIVE } from '../../src/data/model/models';
import type { DataCheck } from '../../src/plugins/plugin';
import type { EventContext } from './context';
import { MAX_HOURS_AHEAD } from './schema';

const AHEAD = `more than ${MAX_HOURS_AHEAD} hours ahead`;

/** Events further ahead than one can be logged: earlier versions took any moment. */
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
      `Events lie ${AHEAD}, which hides their plants from due care (${count}, of ${whose}): have these people correct or delete them; they come first in GET /api/events.`,
  };
}
