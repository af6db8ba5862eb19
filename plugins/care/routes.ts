import { type Operation, read, write } from '../../src/plugins/operation';
import { eventLimitReached, unknownSchedule } from '../events';
import { unknownPhoto } from '../photos';
import { plantArchived, unknownPlant } from '../plants';
import type { CareActions } from './actions';
import { doCare, doneCare, dueCare, dueCareQuery, postponed, skipCare, snoozeCare } from './schema';
import type { CareService } from './service';

/** Operations on care that is due (docs/api.md, "Due care"). */
export function routes(care: CareService, actions: CareActions): Operation[] {
  const access = { scope: 'events:write' };
  return [
    read({
      path: '/api/care',
      summary: 'List due care',
      description:
        "Care that is due by the schedules and frequencies of plants, in days of the account's time zone. With `to` it also lists later occurrences, as if overdue care were done today and the rest on its day.",
      access: { scope: 'plants:read' },
      query: dueCareQuery,
      response: {
        schema: dueCare,
        itemKey: ['plantId', 'scheduleId', 'type', 'dueOn'],
        description:
          'By day, then in the order of the list of plants. With `to` at most 5,000 items: `through` is the last day that is listed in full',
      },
      tool: {
        name: 'list_due_care',
        description: 'List due care, most overdue first; daysOverdue is negative for days to come.',
      },
      handler: async ({ account, tenant, query: { type, ...query }, now, validUntil }) =>
        care.due(account, tenant, { ...query, care: type }, now, validUntil),
    }),
    write({
      method: 'POST',
      path: '/api/care/done',
      access,
      body: doCare,
      summary: 'Log due care as done',
      description:
        'Logs an event for one plant, several plants or all plants at a location, all or nothing, by schedule or by type. Care of a schedule for `other` becomes a note whose text is the label, unless `text` is sent.',
      notConditional: 'the response is not a record',
      response: { schema: doneCare, description: 'The events, and when the same care is due next' },
      errors: [eventLimitReached, unknownPlant, plantArchived, unknownSchedule, unknownPhoto],
      tool: {
        name: 'complete_care',
        description: 'Log due care as done, by scheduleId or type. Returns when it is due next.',
      },
      handler: ({ tx, body }) => actions.done(tx, body),
    }),
    write({
      method: 'POST',
      path: '/api/care/skip',
      access,
      body: skipCare,
      summary: 'Skip due care once',
      description:
        'Counts as care on the day on which it was due, or on that of `at` if that is later, without an event. For several plants only care that was due by then is skipped. A skip replaces a snooze; a snooze with `until` null undoes it. Acts count in the order of their moments, whatever order they arrive in.',
      notConditional: 'the response depends on the day',
      response: { status: 200, schema: postponed, description: 'The care with its new due day' },
      errors: [unknownPlant, plantArchived, unknownSchedule],
      tool: {
        name: 'skip_care',
        description: 'Skip care that is not needed this time. snooze_care with cancel undoes this.',
      },
      handler: ({ tx, body }) => actions.skip(tx, body),
    }),
    write({
      method: 'POST',
      path: '/api/care/snooze',
      access,
      body: snoozeCare,
      summary: 'Snooze due care until a day',
      description:
        '`until` null undoes a snooze or skip. For several plants, or with the type `any`, only care that is due before that day is put off; none is brought forward. Acts count in the order of their moments, whatever order they arrive in.',
      notConditional: 'the response depends on the day',
      response: { status: 200, schema: postponed, description: 'The care with its new due day' },
      errors: [unknownPlant, plantArchived, unknownSchedule],
      tool: {
        name: 'snooze_care',
        description:
          'Put care off until a day, or bring care of one plant forward to it. To pause everything while the person is away: all true, type any. cancel undoes a snooze or skip.',
        cancels: 'until',
      },
      handler: ({ tx, body }) => actions.snooze(tx, body),
    }),
  ];
}
