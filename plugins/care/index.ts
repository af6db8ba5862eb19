import { changedList } from '../../src/data/changes/changes';
import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import eventsPlugin from '../events';
import { careChanged } from '../events/domain-events';
import plantsPlugin from '../plants';
import { plantsChanged, plantDeleted } from '../plants/domain-events';
import { CareActions } from './actions';
import { routes } from './routes';
import { ScheduleLastCare } from './schedules/last-care';
import { scheduleLimitReached, scheduleModel } from './schedules/model';
import { scheduleRoutes } from './schedules/routes';
import { schedule, storedSchedule } from './schedules/schema';
import { ScheduleService } from './schedules/service';
import { CareService } from './service';
import { snoozeChanges } from './snoozes';

export { type CareItem, type DueCare, dueEvent } from './schema';
export {
  fieldsOfKept,
  keptSnooze,
  type KeptSnooze,
  keptSnoozesOf,
  MAX_SNOOZES,
} from './kept-snoozes';
export { MAX_ACTS } from './acts';
export { LAST_DAY, WEEKDAYS_OF_MONTH } from './schedules/days';
export { MAX_SCHEDULES } from './schedules/model';
export { typeOf } from './needs';
export { faultsOf } from './schedules/faults';
export {
  CARES,
  createSchedule,
  type CreateSchedule,
  schedule,
  type ScheduleDocument,
  type ScheduleView,
} from './schedules/schema';

/** The interface of care and schedules for other plugins. */
export interface Care {
  due: CareService['due'];
  schedules: Pick<ScheduleService, 'insertBulk' | 'ofPlants'>;
}

/** Schedules of plants, and due care. */
export default definePlugin<Care>({
  name: 'care',
  tag: { name: 'Care', description: 'Schedules of plants, and due care.' },
  requires: ['events', 'photos', 'plants'],
  errors: [scheduleLimitReached],
  models: [scheduleModel],
  instructions:
    'list_due_care lists what plants need. For care that recurs, of any kind, use create_schedule: other with a label for misting and the like; a season with everyDays 0 for a pause.',
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const { events, bulk } = host.use(eventsPlugin);
    const model = host.model(scheduleModel);
    const lastCare = new ScheduleLastCare(model, events.sums, plants);
    const schedules = new ScheduleService({ plants, events, lastCare, model });
    const care = new CareService(plants, model);
    return {
      exports: { schedules, due: (...query) => care.due(...query) },
      operations: () => [
        ...routes(care, new CareActions(care, bulk)),
        ...scheduleRoutes(schedules),
      ],
      changes: [
        snoozeChanges((tenant, some) => care.snoozesOf(tenant, some)),
        changedList(scheduleModel, {
          view: storedSchedule,
          partOf: { kind: 'plant', field: 'plantId' },
          toView: (each) => schedule.toView(each),
        }),
      ],
      listeners: [
        on(careChanged, (tx, changes) => lastCare.follow(tx, changes)),
        on(plantsChanged, (tx, changed) => care.follow(tx, changed)),
        on(plantDeleted, (tx, { plantId }) => schedules.deleteOfPlant(tx, plantId)),
      ],
      derived: [lastCare.derived()],
    };
  },
});
