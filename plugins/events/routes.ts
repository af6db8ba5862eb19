import { invalidCursor } from '../../src/core/errors';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { unknownPhoto } from '../photos';
import { plantNotFound } from '../plants';
import { eventLimitReached, eventNotFound } from './errors';
import { monthlyView } from './features';
import type { EventPages } from './list/pages';
import {
  createEvent,
  event,
  eventList,
  eventListQuery,
  events as eventArray,
  eventView,
  monthQuery,
} from './schema';
import type { EventService } from './service';

/** Operations on events (docs/specification.md, 4.2). */
export function routes(events: EventService, pages: EventPages): Operation[] {
  return [
    read({
      path: '/api/plants/{id}/events',
      summary: "List a plant's events",
      access: { scope: 'plants:read' },
      params: { id: plantNotFound },
      query: eventListQuery,
      response: {
        schema: eventList,
        description:
          'A page of events, newest first, then by id; it ends at 1 MB, and may hold fewer than `limit` while `hasMore` is true. An event that is there throughout, and not moved to another moment, is on exactly one page',
      },
      errors: [invalidCursor],
      tool: {
        name: 'list_events',
        description:
          "List a plant's care events, newest first; id is the plant's. 15 a page unless limit (1 to 100) says otherwise; while hasMore is true, pass nextCursor as cursor for the next page. It cannot filter by type or date.",
      },
      handler: ({ account, params, query }) => pages.list(account.id, params.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/events',
      summary: 'Log an event',
      access: { scope: 'events:write' },
      params: { id: plantNotFound },
      quota: 'events',
      body: createEvent,
      response: { schema: eventView, description: 'The event' },
      errors: [eventLimitReached, unknownPhoto],
      tool: {
        name: 'create_event',
        description:
          "Log care of a plant; id is the plant's. Without type it is a watering, without occurredAt it happened now. For growth give type growth, growthAmount (what was added since the last measurement) and growthUnit (cm or in). Each call logs one more event: to correct one use update_event.",
      },
      handler: ({ tx, params, body }) => events.create(tx, params.id, body),
    }),
    read({
      path: '/api/plants/{id}/events/month',
      summary: "List a plant's events between two moments",
      access: { scope: 'plants:read' },
      feature: monthlyView,
      params: { id: plantNotFound },
      query: monthQuery,
      response: { schema: eventArray, description: 'The events, newest first' },
      tool: {
        name: 'list_month_events',
        description:
          "List all events of a plant between monthStart and monthEnd, both included, in Unix milliseconds and at most 366 days apart; id is the plant's. Only for the pro tier; others use list_events.",
        tooLarge: 'Call it for a shorter time, or list_events, which answers in pages.',
      },
      handler: ({ account, params, query }) => pages.month(account.id, params.id, query),
    }),
    write({
      method: 'PATCH',
      path: '/api/events/{id}',
      summary: 'Change an event',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      body: event.patchBody,
      response: { schema: eventView, description: 'The event as it is now' },
      errors: [unknownPhoto],
      tool: {
        name: 'update_event',
        description:
          "Correct an event: its text, moment, photos or growth; id is the event's. Fields left out stay as they are; photoIds replaces all photos. The type and the plant cannot change: delete the event and log another.",
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params, body }) => events.update(tx, params.id, body),
    }),
    remove({
      path: '/api/events/{id}',
      summary: 'Delete an event',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      tool: {
        name: 'delete_event',
        description:
          "Delete an event, so that it counts nowhere any more; id is the event's. This cannot be undone.",
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params }) => events.delete(tx, params.id),
    }),
  ];
}
