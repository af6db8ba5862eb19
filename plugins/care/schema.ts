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

export interface Snooze {
  plantId: string;
  type: RecurringCare;
  until: string;
}

export const snooze = Joi.object<Snooze, true>({
  plantId: id().required(),
  type: oneOf(RECURRING_TYPES).required(),
  until: day()
    .required()
    .description(`First day on which it is due; at most ${MAX_SNOOZE_DAYS} days ahead`),
});
