import { invalidCursor } from '../../src/core/errors';
import { success } from '../../src/fields/joi';
import { type Operation, read, remove, write, type Feature } from '../../src/plugins/operation';
import { unknownPhoto } from '../photos';
import { plantArchived, plantNotFound, unknownPlant } from '../plants';
import {
  eventGone,
  eventLimitReached,
  eventNotFound,
  unknownEvent,
  unknownSchedule,
} from './errors';
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
  monthPageQuery,
  monthQuery,
} from './schema';
import type { EventService } from './service';

export const monthlyView: Feature = {
  name: 'monthly view',
  tiers: ['pro'],
  remedy: 'Call list_events instead, page by page.',
};

interface Services {
  events: EventService;
  bulk: BulkEvents;
  pages: EventPages;
  feed: EventFeed;
}

const monthTool = {
  name: 'list_month_events',
  description: 'List all events of a plant between two moments. Pro tier only.',
};

/** What the list of a month has in common with its pages. */
const month = {
  path: '/api/plants/{id}/events/month',
  summary: "List a plant's events between two moments",
  description:
    'All events of a plant from `monthStart` to `monthEnd`, both included, in Unix milliseconds and at most 366 days apart. Only for tiers with the monthly view.',
  access: { scope: 'plants:read' },
  feature: monthlyView,
  params: { id: plantNotFound },
};

/** Operations on events (docs/specification.md, 4.2). */
export function routes({ events, bulk, pages, feed }: Services): Operation[] {
  return [
    read({
      path: '/api/plants/{id}/events',
      summary: "List a plant's events",
      description:
        'The events of one plant, newest first, in pages. `GET /api/events` lists the events of all plants and takes filters.',
      access: { scope: 'plants:read' },
      params: { id: plantNotFound },
      query: eventListQuery,
      response: {
        schema: eventList,
        description:
          'A page of events, newest first, then by id. It ends at 1 MB, so it may have fewer than `limit` while `hasMore` is true. An event that exists throughout, and is not moved to another moment, is on exactly one page',
      },
      errors: [invalidCursor],
      tool: {
        name: 'list_events',
        description: "List a plant's events, newest first. To filter use search_events.",
      },
      handler: ({ account, params, query }) => pages.list(account.id, params.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/events',
      summary: 'Log an event',
      description:
        'By default a watering that happened now. For growth send the type `growth`, `growthAmount` (the growth since the last measurement) and `growthUnit`.',
      access: { scope: 'events:write' },
      params: { id: plantNotFound },
      body: createEvent,
      response: { schema: eventView, description: 'The event' },
      errors: [eventLimitReached, unknownPhoto, unknownSchedule],
      tool: {
        name: 'create_event',
        requires: ['type'],
        description:
          'Log care of a plant. For growth give growthAmount, the growth since the last measurement, and growthUnit. To correct an event use update_event.',
      },
      handler: ({ tx, params, body }) => events.create(tx, params.id, body),
    }),
    read({
      ...month,
      query: monthQuery,
      response: { schema: eventArray, description: 'The events, newest first' },
      tool: {
        ...monthTool,
        // REST lists them whole.
        instead: read({
          ...month,
          query: monthPageQuery,
          response: { schema: eventList, description: 'A page of the events, newest first' },
          errors: [invalidCursor],
          tool: monthTool,
          handler: ({ account, params, query }) => pages.list(account.id, params.id, query, query),
        }),
      },
      handler: ({ account, params, query }) => pages.month(account.id, params.id, query),
    }),
    read({
      path: '/api/events/month',
      summary: 'List the events of all plants between two moments',
      description:
        'All events of all plants from `monthStart` to `monthEnd`, both included, in Unix milliseconds and at most 366 days apart. Only for tiers with the monthly view.',
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
        'Changes only the fields that are sent; `photoIds` replaces all photos. Type and plant cannot change.',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      body: event.patchBody,
      response: { schema: eventView, description: 'The changed event' },
      errors: [unknownPhoto, unknownSchedule],
      tool: {
        name: 'update_event',
        description:
          "Correct an event's text, moment, photos or growth. clear empties fields; photoIds replaces all photos. To change type or plant, delete the event and log another.",
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params, body }) => events.update(tx, params.id, body),
    }),
    remove({
      path: '/api/events/{id}',
      summary: 'Delete an event',
      description:
        'A deleted event no longer counts. `POST /api/events/{id}/restore` brings it back.',
      access: { scope: 'events:write' },
      params: { id: eventNotFound },
      tool: {
        name: 'delete_event',
        description: 'Delete an event. restore_event undoes this.',
      },
      state: ({ tx, params }) => events.get(tx, params.id),
      handler: ({ tx, params }) => events.delete(tx, params.id),
    }),
    read({
      path: '/api/events',
      summary: 'List the events of all plants',
      description:
        'Newest first by `sort`, in pages. `from` and `to` (both included), `type`, `plantId`, `location` and `q`, a part of the text, narrow the list. A page may be short or empty while `hasMore` is true.',
      access: { scope: 'plants:read' },
      query: feedQuery,
      response: {
        schema: eventList,
        description:
          'A page of events, newest first, then by id. It ends at 1 MB, and a search by text, or any filter with `sort=createdAt`, reads at most 5,000 events a page, so it may have fewer than `limit`, or none, while `hasMore` is true',
      },
      errors: [invalidCursor],
      tool: {
        name: 'search_events',
        description:
          'List events of all plants, newest first. Keep the filters when you pass cursor; a page may be empty while hasMore is true.',
      },
      handler: ({ account, query }) => feed.list(account.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/events',
      summary: 'Log the same care of several plants',
      description:
        'Logs an event for each of up to 100 plants (`plantIds`) or for all active plants at a `location`, all or nothing. Send exactly one of the two; the other fields are those of a single event. `POST /api/events/delete` undoes it.',
      access: { scope: 'events:write' },
      body: logCare,
      notConditional: 'the response is not a record',
      response: {
        schema: loggedCare,
        description: 'The events, one for each plant, in the order of the list of plants',
      },
      errors: [eventLimitReached, unknownPlant, plantArchived, unknownPhoto, unknownSchedule],
      tool: {
        name: 'log_care',
        requires: ['type'],
        description:
          'Log the same care of several plants, or of all at a location, all or nothing. To undo it pass the ids of the items to delete_events; if hasMore is true, search_events with sort createdAt lists the others.',
      },
      handler: ({ tx, body }) => bulk.log(tx, body),
    }),
    write({
      method: 'POST',
      path: '/api/events/delete',
      summary: 'Delete several events',
      description: 'Deletes up to 100 events, or none if one of them does not exist.',
      access: { scope: 'events:write' },
      body: deleteEvents,
      response: { status: 200, schema: success, description: 'The events are deleted' },
      errors: [unknownEvent],
      tool: {
        name: 'delete_events',
        description:
          'Delete several events, such as those of log_care, or none if one does not exist. restore_event brings one back.',
      },
      handler: async ({ tx, body }) => {
        await bulk.delete(tx, body.eventIds);
        return { success: true };
      },
    }),
    write({
      method: 'POST',
      path: '/api/events/{id}/restore',
      summary: 'Restore a deleted event',
      description:
        'The event counts again. An event that is not deleted stays as it is; the events of a deleted plant cannot be restored.',
      access: { scope: 'events:write' },
      params: { id: eventGone },
      response: { status: 200, schema: eventView, description: 'The event' },
      tool: {
        name: 'restore_event',
        description: 'Restore a deleted event. The events of a deleted plant are gone.',
      },
      handler: ({ tx, params }) => events.restore(tx, params.id),
    }),
  ];
}
