import { type Operation, read, write } from '../../src/plugins/operation';
import { eventLimitReached, unknownSchedule } from '../events';
import { unknownPhoto } from '../photos';
import { plantArchived, unknownPlant } from '../plants';
import type { CareActs } from './acts';
import { doCare, doneCare, dueCare, dueCareQuery, postponed, skipCare, snoozeCare } from './schema';
import type { CareService } from './service';

/** Operations on care that is due (docs/api.md, "Due care"). */
export function routes(care: CareService, acts: CareActs): Operation[] {
  const access = { scope: 'events:write' };
  return [
    read({
      path: '/api/care',
      summary: 'List the care that is due',
      description:
        "What is due by each plant's schedules and frequencies. It is counted from the day that the last event that counts has kept since it was logged; today is that of the account's time zone. With `to` it lists what follows too, as if overdue care were done today and the rest on its day.",
      access: { scope: 'plants:read' },
      query: dueCareQuery,
      response: {
        schema: dueCare,
        description:
          'By day, then in the order of the list of plants. With `to` at most 5,000 items: days that would not fit come after `through`',
      },
      tool: {
        name: 'list_due_care',
        description:
          'List what care plants need, most overdue first, by their schedules and frequencies. daysOverdue is negative for days to come; to lists what follows as well, as a plan.',
      },
      handler: async ({ account, tenant, query, now, validUntil }) =>
        care.due(account, tenant, query, now, validUntil),
    }),
    write({
      ...{ method: 'POST', path: '/api/care/done', access, body: doCare },
      summary: 'Log that care was done',
      description:
        'Of a schedule, or all care of a type; of one plant, several, or all at a location: all of it or nothing. Care of a schedule for `other` is logged as a note, with its label unless there is a text.',
      notConditional: 'its answer is no record that is read again',
      response: { schema: doneCare, description: 'The events, and when the same care is due next' },
      errors: [eventLimitReached, unknownPlant, plantArchived, unknownSchedule, unknownPhoto],
      tool: {
        name: 'complete_care',
        description:
          'Log that due care was done, by scheduleId or type, of one plant (plantId), several (plantIds) or a location; answers when it is due next.',
      },
      handler: ({ tx, body }) => acts.done(tx, body),
    }),
    write({
      ...{ method: 'POST', path: '/api/care/skip', access, body: skipCare },
      summary: 'Skip care that is not needed this time',
      description:
        'It counts as if it had been done on the day on which it is due, or today where that is past, without an event. Of several plants what is due by today is skipped. It replaces a snooze, and `until` null of a snooze takes it back.',
      notConditional: 'it says how many days are left',
      response: { status: 200, schema: postponed, description: 'The care as it is due now' },
      errors: [unknownPlant, plantArchived, unknownSchedule],
      tool: {
        name: 'skip_care',
        description:
          'Say that care is not needed this time: the next time counts. snooze_care with cancel takes that back.',
      },
      handler: ({ tx, body }) => acts.skip(tx, body),
    }),
    write({
      ...{ method: 'POST', path: '/api/care/snooze', access, body: snoozeCare },
      summary: 'Snooze care until a day, or take that back',
      description:
        'null for `until` takes a snooze or skip back. Of several plants, or with the type `any`, care that is due before that day is put off, and none is brought forward.',
      notConditional: 'it says how many days are left',
      response: { status: 200, schema: postponed, description: 'The care as it is due now' },
      errors: [unknownPlant, plantArchived, unknownSchedule],
      tool: {
        name: 'snooze_care',
        description:
          'Put care off until a day (until). Of one plant it may also bring care forward. To pause everything while the person is away, give all true and type any. cancel takes a snooze or skip back.',
        cancels: 'until',
      },
      handler: ({ tx, body }) => acts.snooze(tx, body),
    }),
  ];
}
