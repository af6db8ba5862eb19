import { changedList } from '../../src/data/changes';
import { on } from '../../src/data/listener';
import { definePlugin } from '../../src/plugins/plugin';
import plantsPlugin from '../plants';
import { plantChanged, plantDeleted } from '../plants/domain-events';
import { routes } from './routes';
import { scheduleLimitReached, scheduleNotFound } from './schedules/errors';
import { scheduleModel } from './schedules/model';
import { scheduleRoutes } from './schedules/routes';
import { schedule, scheduleView } from './schedules/schema';
import { ScheduleService } from './schedules/service';
import { CareService } from './service';
import { snoozeChanges } from './snoozes';

/** What other plugins may do with care. */
export interface Care {
  due: CareService['due'];
}

/** When plants need care: their schedules, and what is due. */
export default definePlugin<Care>({
  name: 'care',
  tag: { name: 'Care', description: 'When plants need care: their schedules, and what is due.' },
  requires: ['events', 'plants'],
  errors: [scheduleNotFound, scheduleLimitReached],
  models: [scheduleModel],
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const schedules = new ScheduleService(plants, host.model(scheduleModel));
    const care = new CareService(plants);
    return {
      exports: { due: (...asked) => care.due(...asked) },
      operations: () => [...routes(care), ...scheduleRoutes(schedules)],
      changes: [
        snoozeChanges,
        changedList(scheduleModel, {
          view: scheduleView,
          partOf: { kind: 'plant', field: 'plantId' },
          show: (each) => schedule.toView(each),
        }),
      ],
      listeners: [
        on(plantChanged, (tx, { plantId, change }) => care.follow(tx, plantId, change)),
        on(plantDeleted, (tx, { plantId }) => schedules.deleteOfPlant(tx, plantId)),
      ],
    };
  },
});
