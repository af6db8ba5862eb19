import Joi from 'joi';

import type { Author } from '../../src/core/identity';
import {
  day,
  id,
  idList,
  instant,
  integer,
  nullable,
  oneOf,
  text,
  timestamp,
  withKeys,
  named,
} from '../../src/fields/joi';
import {
  author,
  type EventType,
  eventType,
  type EventView,
  logCare,
  type LogCare,
  loggedCare,
  MAX_AT_ONCE,
} from '../events';
import { locationFilter } from '../plants';
import { type Care, CARES } from './schedules/schema';

/** Care that a plant needs, by a schedule or by a frequency of its own. */
export interface CareItem {
  plantId: string;
  plantName: string;
  location: string | null;
  type: EventType;
  everyDays: number;
  lastDone: Date | null;
  dueOn: string;
  daysOverdue: number;
  snoozedUntil: string | null;
  scheduleId: string | null;
  care: Care;
  label: string | null;
  by?: Author;
}

const ITEM = {
  plantId: id(),
  plantName: text(),
  location: nullable(text()),
  type: eventType.description('Type of the event to log'),
  everyDays: integer(1).description('Days from dueOn to the next occurrence'),
  lastDone: nullable(instant()).description('occurredAt of the last event that counts'),
  dueOn: day(),
  daysOverdue: integer().description('Negative for days to come'),
  snoozedUntil: nullable(day()).description('The day until which the care is snoozed'),
  scheduleId: nullable(id()).description('null for a frequency of the plant'),
  care: oneOf(CARES),
  label: nullable(text()),
};

const BY = { by: author };

const anyOfItem = Joi.object<CareItem>({ ...ITEM, ...BY });
export const careItem = anyOfItem.fork(Object.keys(ITEM), (field) => field.required());

export interface DueCare {
  today: string;
  items: CareItem[];
  through?: string;
}

export const dueCare = Joi.object<DueCare, true>({
  today: day().required(),
  items: Joi.array().items(careItem).required(),
  through: day().description('With to: the last day that is listed in full'),
});

/** How many items an event has at most. */
const MAX_EVENT_ITEMS = 100;

/** What an event tells programs of due care. */
export function dueEvent({ today, items }: DueCare): object {
  return { today, count: items.length, items: items.slice(0, MAX_EVENT_ITEMS) };
}

export interface DueCareQuery {
  dueBy?: string;
  to?: string;
  type?: Care;
  location?: string;
}

/** How many days ahead care is listed. */
export const MAX_DAYS_AHEAD = 366;

export const dueCareQuery = Joi.object<DueCareQuery, true>({
  dueBy: day().description('Last day, included; by default today'),
  to: day().description(
    `Instead of dueBy: also lists later occurrences, at most ${MAX_DAYS_AHEAD} days ahead`,
  ),
  type: named('Care', oneOf(CARES)),
  location: locationFilter,
});

/** Names plants by exactly one of these. */
export interface PlantChoice {
  plantId?: string;
  plantIds?: string[];
  location?: string;
  all?: true;
}

/** Care that has an event type of its own. */
type TypedCare = Exclude<Care, 'other'>;
const TYPED_CARES = CARES.filter((care) => care !== 'other');

/** How many days ahead care may be snoozed. */
export const MAX_SNOOZE_DAYS = 365;

const PLANTS = {
  plantId: id().description('One plant'),
  plantIds: idList(MAX_AT_ONCE).min(1).description('Several plants'),
  location: locationFilter.description('All plants at this location').example('Living room'),
};
const ALL = { all: Joi.boolean().valid(true).description('All plants') };
const SCHEDULE_ID = id().description('A schedule, instead of type');
const MESSAGES = {
  'object.missing': 'one of {{#peers}} is required',
  'object.xor': 'only one of {{#peers}} may be given',
};

/** Instead of a type: care of any kind. */
export const ANY = 'any';

/** Names care. */
export interface CareChoice extends PlantChoice {
  scheduleId?: string;
  type?: TypedCare | typeof ANY;
}

/** When something about care was decided, and about which occurrence. */
export interface Decided {
  at?: Date;
  dueOn?: string;
}
const DUE_ON = day().description('The occurrence that is meant');
const DECIDED: Joi.StrictSchemaMap<Decided> = {
  at: timestamp({ hoursAhead: 24 }).description('When the person decided; by default now'),
  dueOn: DUE_ON.description(
    'The occurrence that is meant; if another was due then, nothing changes',
  ),
};

export interface SnoozeCare extends CareChoice, Decided {
  until: string | null;
}

export const snoozeCare = Joi.object<SnoozeCare, true>({
  ...PLANTS,
  ...ALL,
  type: oneOf([...TYPED_CARES, ANY])
    .description('All care of a type, or care of any kind')
    .example('watered'),
  scheduleId: SCHEDULE_ID,
  until: nullable(day())
    .required()
    .description(`The new due day, from that of at to ${MAX_SNOOZE_DAYS} days ahead`),
  ...DECIDED,
})
  .xor('plantId', 'plantIds', 'location', 'all')
  .xor('type', 'scheduleId')
  .messages(MESSAGES);

/** Names care of one kind. */
interface TypedChoice extends PlantChoice {
  scheduleId?: string;
  type?: TypedCare;
}

export interface SkipCare extends TypedChoice, Decided {}

const typedChoice = Joi.object<TypedChoice>({
  ...PLANTS,
  type: oneOf(TYPED_CARES).description('All care of a type').example('watered'),
  scheduleId: SCHEDULE_ID,
})
  .xor('plantId', 'plantIds', 'location')
  .xor('type', 'scheduleId')
  .messages(MESSAGES);

export const skipCare = withKeys<SkipCare>(typedChoice, DECIDED);

export type DoCare = TypedChoice &
  Pick<Decided, 'dueOn'> &
  Pick<LogCare, 'occurredAt' | 'text' | 'photoIds'>;

export const doCare = withKeys<DoCare>(typedChoice, {
  dueOn: DUE_ON,
  occurredAt: logCare.extract('occurredAt'),
  text: logCare.extract('text'),
  photoIds: logCare.extract('photoIds'),
});

/** The item of one plant, or those of several plants that changed. */
export type Postponed = CareItem | { items: CareItem[] };

export const postponed = withKeys<Postponed>(anyOfItem, {
  items: Joi.array().items(careItem).description('Instead of all other fields, for several plants'),
});

export interface DoneCare {
  items: EventView[];
  next: CareItem[];
}

export const doneCare = named(
  'DoneCare',
  withKeys<DoneCare>(loggedCare, {
    next: Joi.array().items(careItem).required().description('When the same care is due next'),
  }),
);
