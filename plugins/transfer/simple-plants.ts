import Joi from 'joi';

import type { Account } from '../../src/core/identity';
import { idText, newId } from '../../src/core/ids';
import { id, integer, named, withKeys } from '../../src/fields/joi';
import { ValidationErrors } from '../../src/fields/validation';
import { createSchedule, type CreateSchedule, MAX_SCHEDULES, typeOf } from '../care';
import { type CreatePlant, plant } from '../plants';
import type { ImportedPlants } from './garden-import';
import { LastCareEvents } from './last-care';
import { addRuleFaults } from './rule-faults';
import {
  type ImportedGarden,
  type ImportedSchedule,
  lastCare,
  type LastCare,
  lastDay,
} from './schema';

/** The most plants of one call. */
export const MAX_SIMPLE_PLANTS = 50;

/** What people say about a plant; `update_plant` sets the rest. */
const FIELDS = [
  'name',
  'species',
  'location',
  'notes',
  'wateringFrequencyDays',
  'fertilizerFrequencyDays',
  'lightRequirement',
  'soilType',
  'potType',
  'humidityPreference',
  'mossPoleNeeded',
  'toxic',
] as const satisfies readonly (keyof CreatePlant)[];

type SimpleSchedule = CreateSchedule & { lastDone?: string };

type SimplePlant = Pick<CreatePlant, (typeof FIELDS)[number]> &
  LastCare & { schedules?: SimpleSchedule[] };

const simplePlant = Joi.object<SimplePlant>({
  ...Object.fromEntries(FIELDS.map((field) => [field, plant.createBody.extract(field)])),
  ...lastCare,
  schedules: Joi.array()
    .items(
      withKeys<SimpleSchedule>(createSchedule, {
        lastDone: lastDay('such care'),
      }),
    )
    .max(MAX_SCHEDULES)
    .description('Instead of the frequencies, or for other care'),
});

/** Plants with schedules and last care, without what only an export has. */
export const simplePlants = Joi.object<{ plants: SimplePlant[] }, true>({
  plants: Joi.array()
    .items(simplePlant)
    .min(1)
    .max(MAX_SIMPLE_PLANTS)
    .required()
    .example([{ name: 'Monstera', lastWatered: '2026-03-01' }]),
});

export const importedPlants = named(
  'ImportedPlants',
  Joi.object<ImportedPlants>({
    items: Joi.array()
      .items(Joi.object({ id: id().required(), name: Joi.string().required() }))
      .required(),
    plants: integer().required(),
    events: integer().required(),
  }),
);

/** @throws ApiError validation_error for days after today, and for schedules that are not valid */
export function gardenOfSimple(
  plants: readonly SimplePlant[],
  { timezone }: Pick<Account, 'timezone'>,
  now: Date,
): ImportedGarden {
  const errors = new ValidationErrors();
  const care = new LastCareEvents(timezone, now);
  const imported = plants.map(({ schedules = [], ...given }, at) => {
    const path = `plants[${at}].`;
    const { events, ...fields } = care.withEvents(given, errors.at({ path }));
    const own = schedules.map(({ lastDone, ...rule }, index): ImportedSchedule => {
      const ofRule = errors.at({ path: `${path}schedules[${index}].` });
      addRuleFaults(rule, care.today, ofRule);
      const scheduleId = idText(newId());
      const { care: kind, label } = rule;
      const event = { type: typeOf(kind), scheduleId, ...(label !== undefined && { text: label }) };
      events.push(...care.eventsOn('lastDone', lastDone, event, ofRule));
      return { ...rule, id: scheduleId };
    });
    return { ...fields, schedules: own, events, photos: [] };
  });
  errors.throwIfAny();
  return { plants: imported, photos: [] };
}
