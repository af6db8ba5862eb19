import { type Operation, read, remove, write } from '../../../src/plugins/operation';
import { scheduleNotFound } from '../../events';
import { plantNotFound } from '../../plants';
import { MAX_SCHEDULES, scheduleLimitReached } from './errors';
import { createSchedule, schedules, scheduleView, updateSchedule } from './schema';
import type { ScheduleService } from './service';

/** Operations on schedules (docs/api.md, "Schedules"). */
export function scheduleRoutes(service: ScheduleService): Operation[] {
  const ofPlant = { path: '/api/plants/{id}/schedules', params: { id: plantNotFound } };
  const one = { path: '/api/schedules/{id}', params: { id: scheduleNotFound } };
  const access = { scope: 'plants:write' };
  return [
    read({
      ...ofPlant,
      summary: "List a plant's schedules",
      access: { scope: 'plants:read' },
      response: { schema: schedules, description: 'The schedules, oldest first' },
      tool: {
        name: 'list_schedules',
        description: "List a plant's schedules, oldest first; id is the plant's.",
      },
      handler: ({ tenant, params }) => service.list(tenant, params.id),
    }),
    write({
      ...{ method: 'POST', ...ofPlant, access, body: createSchedule },
      summary: 'Add a schedule to a plant',
      description: `Says on which days the plant needs care of one kind, at most ${MAX_SCHEDULES} a plant. Exactly one of \`everyDays\` and \`weekdays\` is sent. A schedule takes the place of the plant's own frequency of that care.`,
      response: { schema: scheduleView, description: 'The schedule' },
      errors: [scheduleLimitReached],
      tool: {
        name: 'create_schedule',
        description:
          "Add a schedule to a plant: care every so many days or on weekdays, in some months, otherwise in seasons; id is the plant's. It takes the place of the plant's own frequency of that care.",
      },
      handler: ({ tx, params, body }) => service.create(tx, params.id, body),
    }),
    write({
      ...{ method: 'PATCH', ...one, access, body: updateSchedule },
      summary: 'Change a schedule',
      description:
        'Changes the fields that are sent. To go from `everyDays` to `weekdays` send null for the former. An inactive schedule has no care due.',
      response: { schema: scheduleView, description: 'The schedule as it is now' },
      tool: {
        name: 'update_schedule',
        description:
          'Change the given fields of a schedule; clear names those to empty. active false pauses it.',
      },
      state: ({ tx, params }) => service.get(tx, params.id),
      handler: ({ tx, params, body }) => service.update(tx, params.id, body),
    }),
    remove({
      ...{ ...one, access },
      summary: 'Delete a schedule',
      description: 'Deletes the schedule; what was done by it stays, as care of no schedule.',
      tool: {
        name: 'delete_schedule',
        description:
          'Delete a schedule for good; what was done by it stays. To pause it update it.',
      },
      state: ({ tx, params }) => service.get(tx, params.id),
      handler: ({ tx, params }) => service.delete(tx, params.id),
    }),
  ];
}
