import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import type { StoredId } from '../../src/core/ids';
import type { CreateBody, Document, PatchBody, View } from '../../src/fields/field';
import {
  integer,
  oneOf as oneOfSchema,
  timestamp as timestampSchema,
  withKeys,
} from '../../src/fields/joi';
import { type Page, page, type PageQuery, pageQuery } from '../../src/fields/page';
import { defineRecord } from '../../src/fields/record';
import {
  identified,
  oneOf,
  positiveNumber,
  text,
  timestamp,
  timestamps,
  uuid,
  uuidList,
} from '../../src/fields/types';
import { photo, type PhotoView } from '../photos';

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

/** An event (docs/specification.md, 2.4 to 2.6). */
export const event = defineRecord({
  ...identified,
  plantId: uuid().readOnly(),
  type: oneOf(EVENT_TYPES).createOnly(),
  text: text({ max: 2000 }).nullable().describe('What there is to say about it'),
  growthAmount: positiveNumber().optional().describe('How much it grew, in growthUnit'),
  growthUnit: oneOf(GROWTH_UNITS).optional().describe('Unit of growthAmount'),
  occurredAt: timestamp().describe('When it happened'),
  ...timestamps,
  photoIds: uuidList(MAX_PHOTOS)
    .optional()
    .writeOnly()
    .describe('Ids of your photos, in the order to show them; on PATCH they replace all photos'),
});

type Body = CreateBody<typeof event.fields>;

export type CreateEvent = Omit<Body, 'occurredAt'> &
  Partial<Pick<Body, 'occurredAt'>> & { isJournal?: boolean };
export type UpdateEvent = PatchBody<typeof event.fields>;
export type EventView = View<typeof event.fields> & { photos: PhotoView[] };

export interface EventDocument extends Document<typeof event.fields> {
  /** Set once the event is deleted (docs/specification.md, 3). */
  deletedAt: Date | null;
  photos: { photoId: StoredId }[];
}

/** What of an event counts towards totals. */
export type CareEntry = Pick<EventDocument, 'type' | 'occurredAt' | 'growthAmount' | 'growthUnit'>;

/** What is left out depends on other fields, or on the moment (docs/specification.md, 2.5). */
export const createEvent = withKeys<CreateEvent>(event.createBody, {
  type: oneOfSchema(EVENT_TYPES)
    .when('isJournal', {
      is: Joi.valid(true).required(),
      then: Joi.valid(Joi.override, 'journal').default('journal').messages({
        'any.only': '{{#label}} must be journal, or left out, when isJournal is true',
      }),
      otherwise: Joi.string().default('watered'),
    })
    .description('What was done; watered when left out'),
  occurredAt: timestampSchema().description('When it happened; now when left out'),
  isJournal: Joi.boolean().description('true is the same as type journal'),
});

export const eventView = withKeys<EventView>(event.view, {
  photos: Joi.array().items(photo.view).required(),
});

export const events = Joi.array().items(eventView);

export const eventListQuery = Joi.object<PageQuery, true>(pageQuery('Events'));

export type EventList = Page<EventView>;

export const eventList = page<EventView>(eventView);

export interface MonthQuery {
  monthStart: number;
  monthEnd: number;
}

const MAX_RANGE_MS = 366 * DAY_MS;
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
