import type { DataCheck } from '../../src/plugins/plugin';
import { MAX_HOURS_AHEAD } from './schema';
import type { EventService } from './service';

const AHEAD = `more than ${MAX_HOURS_AHEAD} hours ahead`;

/** Events further ahead than one can be logged: earlier versions took any moment. */
export function momentsAhead(events: EventService): DataCheck {
  return {
    name: 'moments of events',
    count: (userId) => events.countAhead(userId),
    good: `none is ${AHEAD}`,
    fault: (count, whose) =>
      `Events lie ${AHEAD}, which hides their plants from due care (${count}, of ${whose}): have these people correct or delete them; they come first in GET /api/events.`,
  };
}
