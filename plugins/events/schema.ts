import Joi from 'joi';

import { id, instant, integer, nullable, oneOf, text, timestamp } from '../../src/schema';
import { photo, type PhotoView } from '../photos/schema';

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

export const GROWTH_UNITS = ['cm', 'in'] as const;
export type GrowthUnit = (typeof GROWTH_UNITS)[number];

/** How many photos an event may have. */
const MAX_PHOTOS = 20;

const eventText = text({ max: 2000 }).description('What there is to say about it');
const growthAmount = Joi.number()
  .unsafe()
  .greater(0)
  .description('How much it grew, in growthUnit');
const growthUnit = oneOf(GROWTH_UNITS).description('Unit of growthAmount');
const photoIds = Joi.array()
  .items(id())
  .max(MAX_PHOTOS)
  .unique((a: string, b: string) => a.toLowerCase() === b.toLowerCase())
  .meta({ jsonSchema: { uniqueItems: true } })
  .description('Ids of your photos, in the order to show them');

export interface CreateEvent {
  type: EventType;
  text?: string;
  occurredAt?: Date;
  photoIds?: string[];
  isJournal?: boolean;
  growthAmount?: number;
  growthUnit?: GrowthUnit;
}

/** Section 2.5. */
export const createEvent = Joi.object<CreateEvent, true>({
  type: oneOf(EVENT_TYPES)
    .when('isJournal', {
      is: Joi.valid(true).required(),
      then: Joi.valid(Joi.override, 'journal').default('journal').messages({
        'any.only': '{{#label}} must be journal, or left out, when isJournal is true',
      }),
      otherwise: Joi.string().default('watered'),
    })
    .description('What was done; watered when left out'),
  text: eventText,
  occurredAt: timestamp().description('When it happened; now when left out'),
  photoIds,
  isJournal: Joi.boolean().description('true is the same as type journal'),
  growthAmount,
  growthUnit,
});

export interface UpdateEvent {
  text?: string | null;
  occurredAt?: Date;
  photoIds?: string[];
  growthAmount?: number;
  growthUnit?: GrowthUnit;
}

/** Section 2.6. */
export const updateEvent = Joi.object<UpdateEvent, true>({
  text: nullable(eventText),
  occurredAt: timestamp().description('When it happened'),
  photoIds: photoIds.description('Replaces all photos of the event'),
  growthAmount,
  growthUnit,
});

export interface EventView {
  id: string;
  userId: string;
  plantId: string;
  type: EventType;
  text: string | null;
  growthAmount: number | null;
  growthUnit: GrowthUnit | null;
  occurredAt: Date;
  createdAt: Date;
  updatedAt: Date;
  photos: PhotoView[];
}

/** Section 2.4. */
export const event = Joi.object<EventView, true>({
  id: id().required(),
  userId: text().required(),
  plantId: id().required(),
  type: oneOf(EVENT_TYPES).required(),
  text: nullable(text()).required(),
  growthAmount: nullable(Joi.number().unsafe()).required(),
  growthUnit: nullable(oneOf(GROWTH_UNITS)).required(),
  occurredAt: instant().required(),
  createdAt: instant().required(),
  updatedAt: instant().required(),
  photos: Joi.array().items(photo).required(),
});

export const events = Joi.array().items(event);

export interface EventListQuery {
  limit: number;
  cursor?: string;
}

export const eventListQuery = Joi.object<EventListQuery, true>({
  limit: integer(1, 100).default(15).description('Events a page'),
  cursor: Joi.string().allow('').description('nextCursor of the page before'),
});

export interface EventList {
  items: EventView[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** Section 2.10. */
export const eventList = Joi.object<EventList, true>({
  items: events.required(),
  hasMore: Joi.boolean().required(),
  nextCursor: nullable(Joi.string()).required(),
});

export interface MonthQuery {
  monthStart: number;
  monthEnd: number;
}

const MAX_RANGE_MS = 366 * 24 * 60 * 60 * 1000;
/** How far from 1970 a moment can be at all, in JavaScript and so here. */
const MAX_MOMENT_MS = 8_640_000_000_000_000;

export const monthQuery = Joi.object<MonthQuery, true>({
  monthStart: integer(-MAX_MOMENT_MS, MAX_MOMENT_MS)
    .required()
    .description('First moment, in Unix milliseconds'),
  monthEnd: integer()
    .required()
    .min(Joi.ref('monthStart'))
    .max(
      Joi.ref('monthStart', {
        adjust: (start: number) => Math.min(start + MAX_RANGE_MS, MAX_MOMENT_MS),
      }),
    )
    .messages({
      'number.min': 'monthEnd must not be before monthStart',
      'number.max': 'monthEnd must be at most 366 days after monthStart',
    })
    .description('Last moment, in Unix milliseconds; at most 366 days later'),
});
