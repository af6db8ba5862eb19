import Joi from 'joi';

import { oneOf, uri, named } from '../../src/fields/joi';
import { CARES } from '../care';
import { locationFilter } from '../plants';

export interface CalendarQuery {
  care?: (typeof CARES)[number];
  location?: string;
}

export const calendarQuery = Joi.object<CalendarQuery, true>({
  care: oneOf(CARES),
  location: locationFilter,
});

export const newCalendar = named(
  'NewCalendar',
  Joi.object({ url: uri().required().description('Anybody who has it can read the calendar') }),
);
