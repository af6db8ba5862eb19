import Joi from 'joi';

import { day, id, instant, integer, nullable, oneOf, text } from '../../src/fields/joi';
import { locationFilter, RECURRING_TYPES, type RecurringCare } from '../plants';

/** Care of one type of a plant. */
export interface CareItem {
  plantId: string;
  plantName: string;
  location: string | null;
  type: RecurringCare;
  everyDays: number;
  lastDone: Date | null;
  dueOn: string;
  daysOverdue: number;
  snoozedUntil: string | null;
}

export interface DueCare {
  today: string;
  items: CareItem[];
}

export const careItem = Joi.object<CareItem, true>({
  plantId: id().required(),
  plantName: text().required(),
  location: nullable(text()).required(),
  type: oneOf(RECURRING_TYPES).required(),
  everyDays: integer(1).required(),
  lastDone: nullable(instant()).required().description('The latest event of this type'),
  dueOn: day().required(),
  daysOverdue: integer().required().description('Negative for days to come'),
  snoozedUntil: nullable(day())
    .required()
    .description('Where care is snoozed, the day that it is due on therefore'),
});

export const dueCare = Joi.object<DueCare, true>({
  today: day().required(),
  items: Joi.array().items(careItem).required(),
});

export interface DueCareQuery {
  dueBy?: string;
  type?: RecurringCare;
  location?: string;
}

export const dueCareQuery = Joi.object<DueCareQuery, true>({
  dueBy: day().description('Last day, included; today unless given'),
  type: oneOf(RECURRING_TYPES),
  location: locationFilter,
});

/** How many days ahead care may be snoozed. */
export const MAX_SNOOZE_DAYS = 365;

export interface SnoozeCare {
  plantId: string;
  type: RecurringCare;
  until: string | null;
}

export const snoozeCare = Joi.object<SnoozeCare, true>({
  plantId: id().required(),
  type: oneOf(RECURRING_TYPES).required(),
  until: nullable(day())
    .required()
    .description(`The day on which it is due, from today to ${MAX_SNOOZE_DAYS} days ahead`),
});
