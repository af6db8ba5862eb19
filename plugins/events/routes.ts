import { invalidCursor } from '../../src/core/errors';
import { success } from '../../src/fields/joi';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { unknownPhoto } from '../photos';
import { plantArchived, plantNotFound, unknownPlant } from '../plants';
import {
  eventGone,
  eventLimitReached,
  eventNotFound,
  unknownEvent,
  unknownSchedule,
} from './errors';
import { monthlyView } from './features';
import type { BulkEvents } from './bulk';
import type { EventFeed } from './list/feed';
import type { EventPages } from './list/pages';
import {
  createEvent,
  deleteEvents,
  event,
  eventList,
  eventListQuery,
  events as eventArray,
  eventView,
  feedQuery,
  logCare,
  loggedCare,
  monthQuery,
} from './schema';
import type { EventService } from './service';

interface Services {
  events: EventService;
  bulk: BulkEvents;
  pages: EventPages;
  feed: EventFeed;
}

/** Operations on events (docs/specification.md, 4.2). */
export function routes({ events, bulk, pages, feed }: Services): Operation[] {
  return [
    read({
      path: '/api/plants/{id}/events',
      summary: "List a plant's events",
      description:
        'The events of one plant, newest first, in pages. `GET /api/events` lists those of all plants, and takes filters.',
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
          "List a plant's care events, newest first; id is the plant's. While hasMore is true, pass nextCursor as cursor for the next page. To filter by type, date or text use search_events.",
      },
      handler: ({ account, params, query }) => pages.list(account.id, params.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/events',
      summary: 'Log an event',
      description:
        'Without `type` it is a watering, and without `occurredAt` it happened now. Growth has the type `growth` with `growthAmount`, what was added since the last measurement, and `growthUnit`.',
      access: { scope: 'events:write' },
      params: { id: plantNotFound },
      body: createEvent,
      response: { schema: eventView, description: 'The event' },
      errors: [eventLimitReached, unknownPhoto, unknownSchedule],
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
      description:
        'All events of a plant between `monthStart` and `monthEnd`, both included, in Unix milliseconds and at most 366 days apart. Only for tiers that have the monthly view.',
      access: { scope: 'plants:read' },
      feature: monthlyView,
      params: { id: plantNotFound },
      query: monthQuery,
      response: { schema: eventArray, description: 'The events, newest first' },
      tool: {
        name: 'list_month_events',
        description:
          "List all events of a plant between two moments; id is the plant's. Only for the pro tier; others use list_events.",
      },
      handler: ({ account, params, query }) => pages.month(account.id, params.id, query),
    }),
    read({
      path: '/api/events/month',
      summary: 'List the events of all plants between two moments',
      description:
        'All events of all plants between `monthStart` and `monthEnd`, both included, in Unix milliseconds and at most 366 days apart. Only for tiers that have the monthly view.',
      operationId: 'listMonthEventsOfAllPlants',
      access: { scope: 'plants:read' },
      feature: monthlyView,
      query: monthQuery,
      response: { schema: eventArray, description: 'The events, newest first' },
      tool: { none: 'search_events lists the same, in pages' },
      handler: async ({ account, query }) => pages.monthOfAll(account.id, query),
    }),
    write({
      method: 'PATCH',
      path: '/api/events/{id}',
      summary: 'Change an event',
      description:
        'Changes the fields that are sent; `photoIds` replaces all photos. The type and the plant stay.',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      body: event.patchBody,
      response: { schema: eventView, description: 'The event as it is now' },
      errors: [unknownPhoto, unknownSchedule],
      tool: {
        name: 'update_event',
        description:
          "Correct an event: its text, moment, photos or growth; id is the event's. Fields left out stay as they are, clear names those to empty; photoIds replaces all photos. The type and the plant cannot change: delete the event and log another.",
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params, body }) => events.update(tx, params.id, body),
    }),
    remove({
      path: '/api/events/{id}',
      summary: 'Delete an event',
      description:
        'The event counts nowhere any more. `POST /api/events/{id}/restore` brings it back.',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      tool: {
        name: 'delete_event',
        description:
          "Delete an event, so that it counts nowhere any more; id is the event's. restore_event brings it back.",
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params }) => events.delete(tx, params.id),
    }),
    read({
      path: '/api/events',
      summary: 'List the events of all plants',
      description:
        'What was done to all plants, newest first, in pages: between two moments (`from`, `to`, both included), of a type, of a plant, at a location, or with a part of its text (`q`). A page may be short or empty while `hasMore` is true.',
      access: { scope: 'plants:read' },
      query: feedQuery,
      response: {
        schema: eventList,
        description:
          'A page of events, newest first, then by id. It ends at 1 MB, and a search by text looks at 5,000 events for each: it may hold fewer than `limit`, or none, while `hasMore` is true',
      },
      errors: [invalidCursor],
      tool: {
        name: 'search_events',
        description:
          'List care events of all plants, newest first: what was done lately or between two moments (from, to), of a type, at a location, or with a word in its text (q). While hasMore is true, pass nextCursor as cursor with the same filters, also where a page is short or empty.',
      },
      handler: ({ account, query }) => feed.list(account.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/events',
      summary: 'Log the same care of several plants',
      description:
        'Logs an event for each of up to 100 plants (`plantIds`), or for all active plants at a `location`: all of it or nothing. Exactly one of both is sent; the other fields are those of a single event. `POST /api/events/delete` takes all of it back.',
      access: { scope: 'events:write' },
      body: logCare,
      notConditional: 'its answer is no record that is read again',
      response: {
        schema: loggedCare,
        description: 'The events, one for each plant, in the order of the list of plants',
      },
      errors: [eventLimitReached, unknownPlant, plantArchived, unknownPhoto, unknownSchedule],
      tool: {
        name: 'log_care',
        description:
          'Log the same care of up to 100 plants (plantIds), or of all plants at a location, in one call: all of it or nothing. Give either plantIds or location; the other fields are those of create_event. To undo it pass the ids of its items to delete_events. With cursor it logs nothing, and shows the rest of what was logged.',
      },
      handler: ({ tx, body }) => bulk.log(tx, body),
    }),
    write({
      method: 'POST',
      path: '/api/events/delete',
      summary: 'Delete several events',
      description: 'Deletes up to 100 events: all of them or, where one is not there, none.',
      access: { scope: 'events:write' },
      body: deleteEvents,
      response: { status: 200, schema: success, description: 'They are deleted' },
      errors: [unknownEvent],
      tool: {
        name: 'delete_events',
        description:
          'Delete up to 100 events at once, such as those that log_care answered: all of them or, where one is not there, none. restore_event brings one back.',
      },
      handler: async ({ tx, body }) => {
        await bulk.delete(tx, body.eventIds);
        return { success: true };
      },
    }),
    write({
      method: 'POST',
      path: '/api/events/{id}/restore',
      summary: 'Bring a deleted event back',
      description:
        'With all that it counts for. One that is not deleted stays as it is; those of a deleted plant are gone.',
      access: { scope: 'events:write' },
      params: { id: eventGone },
      response: { status: 200, schema: eventView, description: 'The event' },
      tool: {
        name: 'restore_event',
        description:
          "Bring a deleted event back, with all that it counts for; id is the event's. One that is not deleted stays as it is; those of a deleted plant are gone.",
      },
      handler: ({ tx, params }) => events.restore(tx, params.id),
    }),
  ];
}
