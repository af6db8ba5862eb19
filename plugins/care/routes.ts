import { type Operation, read, write } from '../../src/plugins/operation';
import { plantArchived, unknownPlant } from '../plants';
import { careItem, dueCare, dueCareQuery, snoozeCare } from './schema';
import type { CareService } from './service';

/** Operations on care that is due (docs/api.md, "Due care"). */
export function routes(care: CareService): Operation[] {
  return [
    read({
      path: '/api/care',
      summary: 'List the care that is due',
      access: { scope: 'plants:read' },
      query: dueCareQuery,
      response: {
        schema: dueCare,
        description:
          "What is due, for each plant and type that has a frequency: by day, then in the order of the list of plants. It is counted from the day that the last such event has kept since it was logged; today is that of the account's time zone",
      },
      tool: {
        name: 'list_due_care',
        description:
          'List which plants need water or fertilizer, most overdue first; those without a frequency are left out. daysOverdue is negative for days to come.',
      },
      handler: async ({ account, tenant, query, now, validUntil }) =>
        care.due(account, tenant, query, now, validUntil),
    }),
    write({
      method: 'POST',
      path: '/api/care/snooze',
      summary: 'Snooze care of a plant until a day, or take that back',
      description: 'null for until takes a snooze back.',
      access: { scope: 'events:write' },
      notConditional: 'it says how many days are left',
      body: snoozeCare,
      response: { status: 200, schema: careItem, description: 'The care as it is due now' },
      errors: [unknownPlant, plantArchived],
      tool: {
        name: 'snooze_care',
        description:
          'Have watering or fertilizing of a plant due on a day (until), later or earlier than it would be, until such care is done; cancel takes that back.',
        cancels: 'until',
      },
      handler: ({ tx, body }) => care.snooze(tx, body),
    }),
  ];
}
