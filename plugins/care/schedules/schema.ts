import Joi from 'joi';
import { Schema } from 'mongoose';

import { isCalendarDay } from '../../../src/core/time';
import type { CreateBody, Document, PatchBody, View } from '../../../src/fields/field';
import {
  day as daySchema,
  integer as integerSchema,
  nullable,
  oneOf as oneOfSchema,
  someOf,
  withKeys,
  named,
} from '../../../src/fields/joi';
import { defineRecord } from '../../../src/fields/record';
import {
  boolean,
  datedMoment,
  day,
  identified,
  integer,
  list,
  oneOf,
  text,
  timestamp,
  timestamps,
  uuid,
} from '../../../src/fields/types';
import type { Act } from '../acts';
import { KINDS, type Season, type WeekdayOfMonth, WEEKDAYS_OF_MONTH } from './days';

/** The kinds of care of a schedule: event types, and `other` for all else. */
export const CARES = ['watered', 'fertilized', 'repotted', 'soil_change', 'other'] as const;
export type Care = (typeof CARES)[number];

/** The most seasons of a schedule: one for each month. */
const MAX_SEASONS = 12;
/** The longest interval: ten years. */
const MAX_DAYS = 3650;

const DATE = /^\d{2}-\d{2}$/;

/** A day of any year (`MM-DD`). */
function date(): Joi.StringSchema {
  return Joi.string()
    .custom((value: string, helpers) =>
      // A leap year has them all.
      DATE.test(value) && isCalendarDay(`2000-${value}`) ? value : helpers.error('date.calendar'),
    )
    .messages({ 'date.calendar': '{{#label}} must be a day of the year, such as 11-01' })
    .meta({ jsonSchema: { pattern: DATE.source } });
}

const season = Joi.object<Season, true>({
  from: date().required(),
  to: date().required(),
  everyDays: integerSchema(0, MAX_DAYS).required().description('0: no care'),
});

const SEASON = new Schema(
  { from: { type: String }, to: { type: String }, everyDays: { type: Number } },
  { _id: false },
);

const weekday = named('Weekday', oneOfSchema(WEEKDAYS_OF_MONTH)).messages({
  'any.only':
    '{{#label}} must be a weekday such as mon, 1mon to 4mon of the month or -1mon, its last',
});

const NO_DAY_OF_MONTH = '{{#label}} must be a day from 1 to 31, or -1 for the last';
const dayOfMonth = integerSchema(-1, 31).invalid(0).messages({
  'any.invalid': NO_DAY_OF_MONTH,
  'number.min': NO_DAY_OF_MONTH,
  'number.max': NO_DAY_OF_MONTH,
});

/** Says on which days a plant needs one kind of care. */
export const schedule = defineRecord({
  id: identified.id,
  userId: text().internal(),
  plantId: uuid().readOnly('add another schedule'),
  care: oneOf(CARES).named('Care').createOnly('add another schedule'),
  label: text({ min: 1, max: 60 })
    .nullable()
    .describe('What to do, only for other: mist, prune, rotate'),
  everyDays: integer(1, MAX_DAYS).nullable().describe('Days between two times'),
  weekdays: list<WeekdayOfMonth>(someOf(weekday, WEEKDAYS_OF_MONTH.length), String)
    .nullable()
    .describe('Instead of everyDays: mon to sun, or of the month 1mon to 4mon and -1mon, the last'),
  monthDays: list<number>(someOf(dayOfMonth, 32), Number)
    .nullable()
    .describe('Instead of everyDays: 1 to 31, -1 the last of the month'),
  months: list<number>(someOf(integerSchema(1, 12), 12), Number)
    .nullable()
    .describe('Only in these months'),
  seasons: list<Season>(Joi.array().items(season).max(MAX_SEASONS), SEASON)
    .default([])
    .describe('Parts of the year (MM-DD, both included) with another everyDays'),
  startOn: day().describe('The first day'),
  endOn: day().nullable().describe('The last day'),
  active: boolean().default(true),
  ...timestamps,
  last: datedMoment().nullable().internal(),
  // Of 1.2.0, which kept the last snooze or skip alone.
  snoozedUntil: day().nullable().internal(),
  skippedOn: day().nullable().internal(),
  snoozedAt: timestamp().nullable().internal(),
});

type Body = CreateBody<typeof schedule.fields>;
export type CreateSchedule = Omit<Body, 'startOn'> & Partial<Pick<Body, 'startOn'>>;
export type UpdateSchedule = PatchBody<typeof schedule.fields>;
export type ScheduleDocument = Document<typeof schedule.fields> & {
  /** Missing until the first. */
  acts?: readonly Act[];
};
export type StoredSchedule = View<typeof schedule.fields>;
export type ScheduleView = StoredSchedule & { dueOn: string | null };

/** A schedule without what other records and the day decide. */
export const storedSchedule = named('StoredSchedule', schedule.view);

export const scheduleView = named(
  'Schedule',
  withKeys<ScheduleView>(schedule.view, {
    dueOn: nullable(daySchema()).required().description('null: never again'),
  }),
);

const EXAMPLE = {
  everyDays: 7,
  seasons: [{ from: '11-01', to: '02-28', everyDays: 21 }],
  startOn: '2026-03-01',
  active: true,
};

export const createSchedule = withKeys<CreateSchedule>(schedule.createBody, {
  startOn: daySchema().description('The first day; by default today'),
})
  .xor(...KINDS)
  .messages({
    'object.missing': 'everyDays, weekdays or monthDays is required',
    'object.xor': 'everyDays, weekdays and monthDays exclude each other',
  })
  .example({ care: 'watered', ...EXAMPLE });

export const updateSchedule: Joi.ObjectSchema<UpdateSchedule> = schedule.patchBody.example(EXAMPLE);

export const schedules = Joi.array().items(scheduleView);
