import { changedList } from '../../src/data/changes/changes';
import { on } from '../../src/data/writing/transaction';
import { tierQuota } from '../../src/data/model/quotas';
import { definePlugin } from '../../src/plugins/plugin';
import photosPlugin from '../photos';
import plantsPlugin from '../plants';
import { plantDeleted } from '../plants/domain-events';
import { BulkEvents } from './bulk';
import { eventContext } from './context';
import { lastCare } from './derived/last-care';
import { PlantDeletions } from './derived/plant-deletions';
import { withoutPlants } from './derived/without-plants';
import { careChanged } from './domain-events';
import { eventLimitReached, eventNotFound, scheduleNotFound } from './errors';
import { EventFeed } from './list/feed';
import { EventPages } from './list/pages';
import { presented } from './list/present';
import { deletedPlantModel, EVENT_QUOTA, eventModel } from './model';
import { monthlyView, routes } from './routes';
import { eventView } from './schema';
import { EventService } from './service';

export {
  author,
  createEvent,
  event,
  type CreateEvent,
  EVENT_TYPES,
  eventType,
  type EventDocument,
  type EventType,
  type EventView,
  eventView,
  importedAuthor,
  growthUnit,
  type GrowthUnit,
  logCare,
  type LogCare,
  loggedCare,
  MAX_AT_ONCE,
} from './schema';
export { laterCare, NEVER_CARED } from './derived/last-care';
export { eventLimitReached, scheduleNotFound, unknownSchedule } from './errors';
export type { AlikeGrowth, DayCount, EventSums } from './derived/event-sums';
export { EVENT_QUOTA } from './model';
export { newEvent } from './service';

/** The interface of events for other plugins. */
export type Events = Pick<
  EventService,
  | 'areBy'
  | 'countOf'
  | 'create'
  | 'existing'
  | 'insertBulk'
  | 'insertWithPlants'
  | 'ofPlant'
  | 'removeBulk'
  | 'removeSchedule'
  | 'sums'
>;

/** Care of several plants at once. */
export type BulkCare = Pick<BulkEvents, 'log'>;

/** The events of deleted plants that are not yet marked as deleted. */
export type PendingPlantDeletions = Pick<PlantDeletions, 'pending' | 'plantIds'>;

/** Care events logged against plants. */
export default definePlugin<{ events: Events; bulk: BulkCare; deletions: PendingPlantDeletions }>({
  name: 'events',
  requires: ['photos', 'plants'],
  scopes: { 'events:write': 'Log, change and delete care events' },
  quotas: {
    [EVENT_QUOTA]: tierQuota(
      EVENT_QUOTA,
      { free: 250_000, pro: 2_000_000 },
      eventLimitReached,
      'may log, deleted ones included',
    ),
  },
  features: { monthlyView },
  errors: [eventNotFound, scheduleNotFound],
  emits: [careChanged],
  models: [eventModel, deletedPlantModel],
  migrations: [
    { name: '0001-revisions' },
    { name: '0002-last-fertilized' },
    { name: '0003-photos-of-plants' },
    { name: '0004-event-days' },
    { name: '0005-last-care-days' },
  ],
  instructions:
    "Log care with create_event, never in the plant's notes. To correct a wrong event use update_event, and do not log a second one. To undo what was just logged, find it by search_events with sort createdAt.",
  tag: {
    name: 'Events',
    description: 'Care of plants, notes and growth.',
  },
  setup: (host) => {
    const plants = host.use(plantsPlugin);
    const context = eventContext(host, plants, host.use(photosPlugin));
    const events = new EventService(context);
    const bulk = new BulkEvents(context);
    const deletions = new PlantDeletions(context);
    return {
      exports: { events, bulk, deletions },
      operations: () =>
        routes({
          events,
          bulk,
          pages: new EventPages(context),
          feed: new EventFeed(context),
        }),
      listeners: [on(plantDeleted, (tx, { plantId }) => deletions.record(tx, plantId))],
      changes: [
        changedList(eventModel, {
          view: eventView,
          embeds: { kind: 'photo', field: 'photos.photoId' },
          partOf: { kind: 'plant', field: 'plantId' },
          present: (tenant, documents) => presented(context.photos, tenant, documents),
        }),
      ],
      // Events and their days first, since everything else is derived from them.
      derived: [withoutPlants(context, deletions), lastCare(context)],
      jobs: [deletions.job()],
    };
  },
});
