import { success } from '../../src/fields/joi';
import { type Operation, write } from '../../src/plugins/operation';
import type { Calendars } from './calendars';
import { newCalendar } from './schema';

const access = { scope: 'plants:write' };
const tool = { none: 'the address is a secret, which is for people and not for assistants' };

/** Operations on the calendar of the account (docs/api.md, "Calendar"). */
export function routes(calendars: Calendars, origin: string): Operation[] {
  return [
    write({
      method: 'POST',
      path: '/api/account/calendar',
      operationId: 'createCalendar',
      summary: 'Make an address for a calendar of due care',
      description:
        'For calendar programs, which read it without a token. It is shown this once; a new one replaces the one before.',
      access,
      tool,
      secret: 'url',
      notConditional: 'it is shown once',
      response: { schema: newCalendar, description: 'The address' },
      handler: async ({ tx }) => ({ url: `${origin}/calendar/${await calendars.make(tx)}.ics` }),
    }),
    write({
      method: 'DELETE',
      path: '/api/account/calendar',
      operationId: 'deleteCalendar',
      summary: 'End the address of the calendar',
      access,
      tool,
      response: { schema: success, description: 'No address opens the calendar' },
      handler: async ({ tx }) => {
        await calendars.end(tx);
        return { success: true };
      },
    }),
  ];
}
