import { success } from '../../src/fields/joi';
import { type Operation, write } from '../../src/plugins/operation';
import type { Calendars } from './calendars';
import { newCalendar } from './schema';

const access = { scope: 'plants:write' };
const tool = { none: 'the address is a secret for people, not for assistants' };

/** Operations on the calendar of the account (docs/api.md, "Calendar"). */
export function routes(calendars: Calendars): Operation[] {
  return [
    write({
      method: 'POST',
      path: '/api/account/calendar',
      operationId: 'createCalendar',
      summary: 'Create a calendar address',
      description:
        'The address of a calendar of due care, which calendar programs read without a token. It is shown only once; a new address replaces the previous one.',
      of: 'person',
      access,
      tool,
      secret: 'url',
      notConditional: 'it is shown only once',
      response: { schema: newCalendar, description: 'The address' },
      handler: async ({ tx, origin }) => ({
        url: `${origin()}/calendar/${await calendars.make(tx)}.ics`,
      }),
    }),
    write({
      method: 'DELETE',
      path: '/api/account/calendar',
      operationId: 'deleteCalendar',
      summary: 'Delete the calendar address',
      of: 'person',
      access,
      tool,
      response: { schema: success, description: 'The address no longer works' },
      handler: async ({ tx }) => {
        await calendars.end(tx);
        return { success: true };
      },
    }),
  ];
}
