import Joi from 'joi';

import { calendarOf, HOUR_MS, startOfDay } from '../../src/core/time';
import type { Account } from '../../src/core/identity';
import { idText, newId } from '../../src/core/ids';
import { day, id, integer, named, withKeys } from '../../src/fields/joi';
import { ValidationErrors } from '../../src/fields/validation';
import { createSchedule, type CreateSchedule, MAX_SCHEDULES, typeOf } from '../care';
import { type CreatePlant, plant } from '../plants';
import { addRuleFaults } from './check';
import type { ImportedPlants } from './garden-import';
import type { ImportedEvent, ImportedGarden, ImportedSchedule } from './schema';

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

type SimplePlant = Pick<CreatePlant, (typeof FIELDS)[number]> & {
  schedules?: SimpleSchedule[];
  lastWatered?: string;
  lastFertilized?: string;
};

const PAST = 'in the past or today';

const simplePlant = Joi.object<SimplePlant>({
  ...Object.fromEntries(FIELDS.map((field) => [field, plant.createBody.extract(field)])),
  lastWatered: day().description(`The day of the last watering, ${PAST}`),
  lastFertilized: day().description(`The day of the last feeding, ${PAST}`),
  schedules: Joi.array()
    .items(
      withKeys<SimpleSchedule>(createSchedule, {
        lastDone: day().description(`The day of the last such care, ${PAST}`),
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
  const today = calendarOf(timezone)(now);
  const errors = new ValidationErrors();
  /** The event of care on a day, if one is given. */
  const careOn = (
    path: string,
    field: string,
    occurredOn: string | undefined,
    event: Pick<ImportedEvent, 'type' | 'text' | 'scheduleId'>,
  ): ImportedEvent[] => {
    if (occurredOn === undefined) return [];
    if (occurredOn > today) {
      errors.at({ path }).add(field, `must not be after today, ${today}`);
      return [];
    }
    const noon = startOfDay(occurredOn, timezone).getTime() + 12 * HOUR_MS;
    // Care that follows today is later.
    return [{ ...event, occurredAt: new Date(Math.min(noon, now.getTime())), occurredOn }];
  };
  const imported = plants.map(({ lastWatered, lastFertilized, schedules = [], ...fields }, at) => {
    const path = `plants[${at}].`;
    const events = [
      ...careOn(path, 'lastWatered', lastWatered, { type: 'watered' }),
      ...careOn(path, 'lastFertilized', lastFertilized, { type: 'fertilized' }),
    ];
    const own = schedules.map(({ lastDone, ...given }, index): ImportedSchedule => {
      const place = `${path}schedules[${index}].`;
      addRuleFaults(given, today, errors.at({ path: place }));
      const scheduleId = idText(newId());
      const { care, label } = given;
      const event = { type: typeOf(care), scheduleId, ...(label !== undefined && { text: label }) };
      events.push(...careOn(place, 'lastDone', lastDone, event));
      return { ...given, id: scheduleId };
    });
    return { ...fields, schedules: own, events, photos: [] };
  });
  errors.throwIfAny();
  return { plants: imported, photos: [] };
}
