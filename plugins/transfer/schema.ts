import Joi from 'joi';

import { descriptionOf } from '../../src/fields/description';
import {
  checkedLater,
  day,
  id,
  integer,
  oneOf,
  text,
  timestamp,
  withKeys,
  withoutKey,
  named,
} from '../../src/fields/joi';
import { createSchedule, type CreateSchedule, MAX_SCHEDULES } from '../care';
import { type CreateEvent, createEvent } from '../events';
import { type CreatePhoto, photo } from '../photos';
import { archiveReason, type ArchiveReason, type CreatePlant, plant } from '../plants';

/** Clocks differ; anything further ahead is a mistake. */
const past = timestamp({ hoursAhead: 24 });
const createdAt = past.description('When it was added, at most 24 hours from now; by default now');

export type Crop = Record<'cropX' | 'cropY' | 'cropWidth' | 'cropHeight', number>;

export type ImportedPhoto = Omit<CreatePhoto, 'plantId'> &
  Partial<Crop> & { id?: string; createdAt?: Date };
export type ImportedEvent = CreateEvent & { createdAt?: Date; occurredOn?: string };
export type PlantFields = CreatePlant & {
  createdAt?: Date;
  archivedAt?: Date;
  archiveReason?: ArchiveReason;
};
export type ImportedSchedule = CreateSchedule & { id?: string; createdAt?: Date };
export type ImportedPlant = PlantFields & {
  photos: ImportedPhoto[];
  schedules: ImportedSchedule[];
  events: ImportedEvent[];
};

/** The garden of an import. */
export interface ImportedGarden {
  plants: ImportedPlant[];
  /** Photos without a plant. */
  photos: ImportedPhoto[];
}

export const importedPhoto = named(
  'ImportedPhoto',
  withKeys<ImportedPhoto>(withoutKey(photo.createBody, 'plantId'), {
    id: id().description('Its name within this body; the photo gets a new id'),
    cropX: integer(0).description('All four crop fields are set or left out together'),
    cropY: integer(0),
    cropWidth: integer(1),
    cropHeight: integer(1),
    createdAt,
  }),
);

export const importedEvent = named(
  'ImportedEvent',
  withKeys<ImportedEvent>(createEvent, {
    occurredOn: day().description(
      "The calendar day of occurredAt where it happened; by default in the account's time zone",
    ),
    createdAt,
  }),
);

export const importedSchedule = named(
  'ImportedSchedule',
  withKeys<ImportedSchedule>(createSchedule, {
    id: id().description('Its name within this plant; the schedule gets a new id'),
    createdAt,
  }),
);

/** The fields of a plant itself. */
export const plantFields = withKeys<PlantFields>(plant.createBody, {
  createdAt,
  archivedAt: past.description('When the person lost it or gave it away; for an archived plant'),
  archiveReason: archiveReason.description('By default other, if archivedAt is set'),
});
export const PLANT_FIELDS = [...descriptionOf(plantFields).keys.keys()];

const PAST = 'in the past or today';

/** The days of a plant's last care, each of which becomes an event. */
export interface LastCare {
  lastWatered?: string;
  lastFertilized?: string;
}
export const lastCare = {
  lastWatered: day().description(`The day of the last watering, ${PAST}`),
  lastFertilized: day().description(`The day of the last feeding, ${PAST}`),
};

/** The fields of a line of CSV. */
export const rowFields = withKeys<PlantFields & LastCare>(plantFields, lastCare).messages({
  'boolean.base':
    "{{#label}} must be true or false, yes or no, 1 or 0, or such a word of the account's language",
});
export const ROW_FIELDS = [...descriptionOf(rowFields).keys.keys()];

const importedPlant = named(
  'ImportedPlant',
  withKeys<ImportedPlant>(plantFields, {
    photos: Joi.array().items(importedPhoto),
    schedules: Joi.array().items(importedSchedule).max(MAX_SCHEDULES),
    events: Joi.array().items(importedEvent),
  }),
);

/** A table of plants, and how to read it. */
export interface Table {
  csv: string;
  /** Its headings by field. */
  columns?: Record<string, string>;
  delimiter?: string;
  dates?: string;
}

export type ImportBody = { plants: unknown[]; photos?: unknown[] } | Table;

/** Letters for the parts of a date, in any order and with any separators. */
const DATES = /^(d+|m+|y+)[./ -](d+|m+|y+)[./ -](d+|m+|y+)$/i;

/** The most plants, events and KiB of one request. */
export const MAX_PLANTS = 500;
export const MAX_EVENTS = 5000;
export const MAX_KIB = 2048;
/** The most faults that are listed. */
export const MAX_DETAILS = 100;

const EXAMPLE = [{ name: 'Monstera', events: [{ type: 'watered' }] }];

/** @param maxPlants the most plants of one import */
export function importBodyOf(maxPlants: number): Joi.ObjectSchema<ImportBody> {
  return Joi.object<ImportBody>({
    plants: Joi.array().items(checkedLater(importedPlant)).max(maxPlants).example(EXAMPLE),
    // The fields check the cells.
    csv: Joi.string()
      .description(
        'A table with a plant in each line, instead of plants; its first line has the headings',
      )
      .example('name,wateringFrequencyDays\nMonstera,7\n'),
    photos: Joi.array()
      .items(checkedLater(importedPhoto))
      .description('Photos without a plant')
      .example([]),
    columns: Joi.object(
      Object.fromEntries(ROW_FIELDS.map((field) => [field, text({ min: 1, max: 200 })])),
    )
      .description(
        'Of csv: the headings of its columns, by field; by default the headings are field names',
      )
      .example({ name: 'Plant' }),
    delimiter: oneOf([',', ';', '\t', '|']).description(
      'Of csv: the delimiter of cells; by default the most frequent one in the headings',
    ),
    dates: text({ min: 1, max: 20 })
      .pattern(DATES)
      .messages({ 'string.pattern.base': '{{#label}} must be a form such as dd.mm.yyyy' })
      .description(
        'Of csv: the form of dates; by default yyyy-mm-dd or, where the field has a time, a date-time',
      )
      .example('dd.mm.yyyy'),
  })
    .example({ plants: EXAMPLE, photos: [] })
    .xor('plants', 'csv')
    .messages({
      'object.missing': 'plants or csv is required',
      'object.xor': 'csv must not be given together with plants',
    });
}

export const importQuery = Joi.object<{ dryRun?: boolean }, true>({
  dryRun: Joi.boolean().description('Only checks whether the import would succeed'),
});

export const imported = named(
  'Imported',
  Joi.object({ plants: integer().required(), events: integer().required() }),
);

export const exportQuery = Joi.object<{ format: 'json' | 'csv' }, true>({
  format: oneOf(['json', 'csv'])
    .default('json')
    .description('json has everything and can be imported; csv has the plants only'),
});

/** An export is made while it is sent, so it is not checked. */
export const exported = Joi.object().unknown();
