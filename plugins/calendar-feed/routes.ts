import { success } from '../../src/fields/joi';
import { type Operation, write } from '../../src/plugins/operation';
import type { Calendars } from './calendars';
import { newCalendar } from './schema';

const common = {
  path: '/api/account/calendar',
  of: 'member',
  access: { scope: 'plants:write', asMember: 'plants:read' },
  tool: { none: 'the address is a secret for people, not for assistants' },
} as const;

/** Operations on the calendar of the account (docs/api.md, "Calendar"). */
export function routes(calendars: Calendars): Operation[] {
  return [
    write({
      ...common,
      method: 'POST',
      operationId: 'createCalendar',
      summary: 'Create a calendar address',
      description:
        'The address of a calendar of due care, which calendar programs read without a token. It is shown only once; a new address replaces the previous one. In the garden of another, every member can make one of their own, which ends with the membership.',
      secret: 'url',
      notConditional: 'it is shown only once',
      response: { schema: newCalendar, description: 'The address' },
      handler: async ({ tx, within, origin }) => ({
        url: `${origin()}/calendar/${await calendars.make(tx, within)}.ics`,
      }),
    }),
    write({
      ...common,
      method: 'DELETE',
      operationId: 'deleteCalendar',
      summary: 'Delete the calendar address',
      response: { schema: success, description: 'The address no longer works' },
      handler: async ({ tx, within }) => {
        await calendars.end(tx, within);
        return { success: true };
      },
    }),
  ];
}
