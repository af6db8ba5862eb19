import { on } from '../../src/data/listener';
import { definePlugin } from '../../src/plugins/plugin';
import plantsPlugin from '../plants';
import { plantChanged } from '../plants/domain-events';
import { routes } from './routes';
import { CareService } from './service';
import { snoozeChanges } from './snoozes';

/** Care that is due. */
export default definePlugin({
  name: 'care',
  tag: { name: 'Due care', description: 'What care of which plants is due, and when.' },
  requires: ['events', 'plants'],
  setup: (host) => {
    const care = new CareService(host.use(plantsPlugin));
    return {
      operations: () => routes(care),
      changes: [snoozeChanges],
      listeners: [on(plantChanged, (tx, { plantId, change }) => care.follow(tx, plantId, change))],
    };
  },
});
