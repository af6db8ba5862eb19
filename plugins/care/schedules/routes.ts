import { type Operation, read, remove, write } from '../../../src/plugins/operation';
import { endOfQuarterHour } from '../../../src/core/time';
import { scheduleNotFound } from '../../events';
import { plantNotFound } from '../../plants';
import { todayOf } from '../needs';
import { MAX_SCHEDULES, scheduleLimitReached } from './model';
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
        description: "List a plant's schedules.",
      },
      handler: ({ tenant, account, params, now, validUntil }) => {
        validUntil(endOfQuarterHour(now));
        return service.list(tenant, params.id, todayOf({ account, now }));
      },
    }),
    write({
      method: 'POST',
      ...ofPlant,
      access,
      body: createSchedule,
      summary: 'Add a schedule to a plant',
      description: `A schedule says on which days the plant needs one kind of care. Send exactly one of \`everyDays\`, \`weekdays\` and \`monthDays\`. It replaces the plant's own frequency of that care. A plant has at most ${MAX_SCHEDULES}.`,
      response: { schema: scheduleView, description: 'The schedule' },
      errors: [scheduleLimitReached],
      tool: {
        name: 'create_schedule',
        description:
          "Add a schedule to a plant: everyDays, weekdays or monthDays. It replaces the plant's own frequency of that care.",
      },
      handler: ({ tx, params, body }) => service.create(tx, params.id, body),
    }),
    write({
      method: 'PATCH',
      ...one,
      access,
      body: updateSchedule,
      summary: 'Change a schedule',
      description:
        'Changes only the fields that are sent. To set another one of `everyDays`, `weekdays` and `monthDays`, send null for the former. Care of an inactive schedule is never due.',
      response: { schema: scheduleView, description: 'The changed schedule' },
      tool: {
        name: 'update_schedule',
        description:
          'Change the given fields of a schedule; clear empties fields. active false pauses it.',
      },
      state: ({ tx, params }) => service.get(tx, params.id),
      handler: ({ tx, params, body }) => service.update(tx, params.id, body),
    }),
    remove({
      ...one,
      access,
      summary: 'Delete a schedule',
      description: 'Deletes the schedule. Its events stay, without a schedule.',
      tool: {
        name: 'delete_schedule',
        description:
          'Delete a schedule for good; its events stay. To pause it use update_schedule.',
      },
      state: ({ tx, params }) => service.get(tx, params.id),
      handler: ({ tx, params }) => service.delete(tx, params.id),
    }),
  ];
}
