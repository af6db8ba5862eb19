import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import type { Author } from '../../src/core/identity';
import type { StoredId } from '../../src/core/ids';
import type { CreateBody, Document, PatchBody, View } from '../../src/fields/field';
import {
  id,
  idList,
  integer,
  notBefore,
  oneOf as oneOfSchema,
  text as textSchema,
  timestamp as timestampSchema,
  withKeys,
  named,
} from '../../src/fields/joi';
import { type Page, page, type PageQuery, pageQuery } from '../../src/fields/page';
import { defineRecord } from '../../src/fields/record';
import {
  day,
  identified,
  oneOf,
  positiveNumber,
  text,
  timestamp,
  timestamps,
  uuid,
  uuidList,
} from '../../src/fields/types';
import { type PhotoView, photoView } from '../photos';
import { locationFilter } from '../plants';

export const EVENT_TYPES = [
  'watered',
  'fertilized',
  'repotted',
  'soil_change',
  'note',
  'journal',
  'growth',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const GROWTH_UNITS = ['cm', 'in'] as const;
export type GrowthUnit = (typeof GROWTH_UNITS)[number];

/** The schema of event types. */
export const eventType = named('EventType', oneOfSchema(EVENT_TYPES));
export const growthUnit = named('GrowthUnit', oneOfSchema(GROWTH_UNITS));

export const author = named(
  'Author',
  Joi.object<Author, true>({
    id: id().description('The id of the member; missing after an import'),
    name: textSchema().required().example('Ben next door'),
  }).description('The member who did it; missing if it was the owner of the garden'),
);

export const importedAuthor = named(
  'ImportedAuthor',
  Joi.object<Author, true>({
    id: id().description('Not kept'),
    name: textSchema({ min: 1, max: 60 }).required().example('Ben next door'),
  }).description('Who did it, if it was not the owner of the garden'),
);

/** The most photos of an event. */
const MAX_PHOTOS = 20;

/**
 * How far ahead an event may be. Clocks and zones differ, but a mistyped year would hide a plant from due
 * care for decades.
 */
const MAX_HOURS_AHEAD = 24;
const OCCURRED = { hoursAhead: MAX_HOURS_AHEAD };
const AHEAD = `at most ${MAX_HOURS_AHEAD} hours from now`;

const LOG_ANOTHER = 'delete the event and log another';

/** An event (docs/specification.md, 2.4 to 2.6). */
export const event = defineRecord({
  ...identified,
  plantId: uuid().readOnly(LOG_ANOTHER),
  type: oneOf(EVENT_TYPES).named('EventType').createOnly(LOG_ANOTHER),
  text: text({ max: 2000 }).nullable().describe('A note').example('Rainwater'),
  growthAmount: positiveNumber().optional().describe('Growth in growthUnit'),
  growthUnit: oneOf(GROWTH_UNITS).named('GrowthUnit').optional(),
  occurredAt: timestamp(OCCURRED).describe(`When it happened, ${AHEAD}`),
  occurredOn: day()
    .readOnly('it follows from occurredAt')
    .describe('The day of occurredAt in the time zone that the account had when it was logged'),
  ...timestamps,
  photoIds: uuidList(MAX_PHOTOS).optional().writeOnly().describe('Your photos, in the order shown'),
  scheduleId: uuid().nullable().writeOnly().describe('The schedule that this care was for'),
});

type Body = CreateBody<typeof event.fields>;

export type CreateEvent = Omit<Body, 'occurredAt'> &
  Partial<Pick<Body, 'occurredAt'>> & { isJournal?: boolean };
export type UpdateEvent = PatchBody<typeof event.fields>;
export type EventView = View<typeof event.fields> & {
  photos: PhotoView[];
  scheduleId?: string;
  by?: Author;
};

export interface EventDocument extends Document<typeof event.fields> {
  /** Set once the event is deleted (docs/specification.md, 3). */
  deletedAt: Date | null;
  photos: { photoId: StoredId }[];
  /** Only if the event was for one. */
  scheduleId?: StoredId;
  /** Only if another than the owner logged it, as they were then. */
  by?: Author;
}

/** Defaults depend on other fields and on the moment (docs/specification.md, 2.5). */
export const createEvent = withKeys<CreateEvent>(event.createBody, {
  type: eventType
    .when('isJournal', {
      is: Joi.valid(true).required(),
      then: Joi.valid(Joi.override, 'journal').default('journal').messages({
        'any.only': '{{#label}} must be journal, or left out, when isJournal is true',
      }),
      otherwise: Joi.string().default('watered'),
    })
    .description('What was done'),
  occurredAt: timestampSchema(OCCURRED).description(`When it happened, ${AHEAD}; by default now`),
  isJournal: Joi.boolean().description('true is the same as type journal'),
});

export const eventView = named(
  'Event',
  withKeys<EventView>(event.view, {
    photos: Joi.array().items(photoView).required(),
    scheduleId: id().description('The schedule that this care was for, if any'),
    by: author,
  }),
);

/** The most events that one request logs or deletes. */
export const MAX_AT_ONCE = 100;

/** Names plants by exactly one of the two. */
export interface SeveralPlants {
  plantIds?: string[] | undefined;
  location?: string | undefined;
}

export type LogCare = CreateEvent & SeveralPlants;

export const logCare = withKeys<LogCare>(createEvent, {
  plantIds: idList(MAX_AT_ONCE).min(1).description('The plants'),
  location: locationFilter
    .description('All active plants at this location, instead of plantIds')
    .example('Living room'),
})
  .xor('plantIds', 'location')
  .messages({
    'object.missing': 'plantIds or location is required',
    'object.xor': 'location must not be given together with plantIds',
  });

/** The logged events, in the order of the list of plants. */
export const loggedCare = named(
  'LoggedCare',
  Joi.object({ items: Joi.array().items(eventView).required() }),
);

export const deleteEvents = Joi.object<{ eventIds: string[] }, true>({
  eventIds: idList(MAX_AT_ONCE).min(1).required(),
});

export const events = Joi.array().items(eventView);

export const eventListQuery = Joi.object<PageQuery, true>(pageQuery('Events'));

const ORDERS = ['occurredAt', 'createdAt'] as const;

export interface FeedQuery extends PageQuery {
  sort: (typeof ORDERS)[number];
  from?: Date;
  to?: Date;
  type?: EventType;
  plantId?: string;
  location?: string;
  q?: string;
}

export const feedQuery = Joi.object<FeedQuery, true>({
  sort: oneOfSchema(ORDERS).default('occurredAt').description('createdAt: last logged first'),
  from: timestampSchema().description('First moment'),
  to: notBefore('from', timestampSchema()).description('Last moment'),
  type: eventType,
  plantId: id().description('Of this plant'),
  location: locationFilter.description('Of plants at this location'),
  q: textSchema({ min: 1, max: 100 }).description(
    'Part of the text; case and accents do not count',
  ),
  ...pageQuery('Events'),
});

export type EventList = Page<EventView>;

export const eventList = page<EventView>(eventView);

export interface MonthQuery {
  monthStart: number;
  monthEnd: number;
}

const MAX_RANGE_MS = 366 * DAY_MS;
/** The largest distance of a JavaScript Date from 1970. */
const MAX_MOMENT_MS = 8_640_000_000_000_000;

const isMoment = (time: unknown): boolean =>
  Number.isSafeInteger(time) && Math.abs(Number(time)) <= MAX_MOMENT_MS;

const MONTH: Joi.StrictSchemaMap<MonthQuery> = {
  monthStart: integer(-MAX_MOMENT_MS, MAX_MOMENT_MS)
    .required()
    .description('First moment, in Unix milliseconds'),
  monthEnd: integer(-MAX_MOMENT_MS, MAX_MOMENT_MS)
    .required()
    .custom((monthEnd: number, helpers) => {
      const [{ monthStart }] = helpers.state.ancestors as [MonthQuery]; // It may itself be invalid.
      if (!isMoment(monthStart) || !isMoment(monthEnd)) return monthEnd;
      if (monthEnd < monthStart) return helpers.error('range.order', { start: 'monthStart' });
      return monthEnd - monthStart > MAX_RANGE_MS ? helpers.error('range.length') : monthEnd;
    })
    .messages({ 'range.length': '{{#label}} must be at most 366 days after monthStart' })
    .description('Last moment, in Unix milliseconds; at most 366 days later'),
};

export const monthQuery = Joi.object<MonthQuery, true>(MONTH);

export type MonthPageQuery = MonthQuery & PageQuery;

/** The query of the same in pages. */
export const monthPageQuery = Joi.object<MonthPageQuery, true>({
  ...MONTH,
  ...pageQuery('Events'),
});
