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
} from '../../src/fields/joi';
import { named } from '../../src/fields/schema-name';
import { createSchedule, type CreateSchedule, MAX_SCHEDULES } from '../care';
import { type CreateEvent, createEvent } from '../events';
import { type CreatePhoto, photo } from '../photos';
import { archiveReason, type ArchiveReason, type CreatePlant, plant } from '../plants';

/** Clocks differ; whatever is further ahead is a mistake. */
const past = timestamp({ hoursAhead: 24 });
const createdAt = past.description(
  'When it was added, at most 24 hours from now; now when left out',
);

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

/** What is brought in. */
export interface ImportedGarden {
  plants: ImportedPlant[];
  /** Photos of no plant. */
  photos: ImportedPhoto[];
}

export const importedPhoto = named(
  'ImportedPhoto',
  withKeys<ImportedPhoto>(withoutKey(photo.createBody, 'plantId'), {
    id: id().description('By which plants and events name it here; it gets another'),
    cropX: integer(0).description('Set with all four of the crop, or left out with them'),
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
      "The calendar day of occurredAt where it happened; in the account's time zone when left out",
    ),
    createdAt,
  }),
);

export const importedSchedule = named(
  'ImportedSchedule',
  withKeys<ImportedSchedule>(createSchedule, {
    id: id().description('By which events of the plant name it here; it gets another'),
    createdAt,
  }),
);

/** A plant by itself, as a line of CSV has it. */
export const plantFields = withKeys<PlantFields>(plant.createBody, {
  createdAt,
  archivedAt: past.description('When the person no longer had it; of those that are archived'),
  archiveReason: archiveReason.description('Why; other when left out beside archivedAt'),
});
export const PLANT_FIELDS = [...descriptionOf(plantFields).keys.keys()];

const importedPlant = named(
  'ImportedPlant',
  withKeys<ImportedPlant>(plantFields, {
    photos: Joi.array().items(importedPhoto),
    schedules: Joi.array().items(importedSchedule).max(MAX_SCHEDULES),
    events: Joi.array().items(importedEvent),
  }),
);

/** How a table of plants is to be read. */
export interface Table {
  csv: string;
  /** Its headings, by the fields that they stand for. */
  columns?: Record<string, string>;
  delimiter?: string;
  dates?: string;
}

export type ImportBody = { plants: unknown[]; photos?: unknown[] } | Table;

/** Letters for the parts of a date, in their order; whatever stands between them. */
const DATES = /^(d+|m+|y+)[./ -](d+|m+|y+)[./ -](d+|m+|y+)$/i;

/** How many plants and events a request may bring in, and how much JSON or CSV. */
export const MAX_PLANTS = 500;
export const MAX_EVENTS = 5000;
export const MAX_KIB = 2048;
/** How many faults are listed. */
export const MAX_DETAILS = 100;

const EXAMPLE = [{ name: 'Monstera', events: [{ type: 'watered' }] }];

/** @param maxPlants how many there may be */
export function importBodyOf(maxPlants: number): Joi.ObjectSchema<ImportBody> {
  return Joi.object<ImportBody>({
    plants: Joi.array().items(checkedLater(importedPlant)).max(maxPlants).example(EXAMPLE),
    // What its cells may be is up to their fields.
    csv: Joi.string()
      .description(
        'A table of plants, a line each, instead of plants; its first line has the names of its columns',
      )
      .example('name,wateringFrequencyDays\nMonstera,7\n'),
    photos: Joi.array()
      .items(checkedLater(importedPhoto))
      .description('Photos of no plant')
      .example([]),
    columns: Joi.object(
      Object.fromEntries(PLANT_FIELDS.map((field) => [field, text({ min: 1, max: 200 })])),
    )
      .description(
        'Of csv: its columns by the fields that they stand for; all are of that name if left out',
      )
      .example({ name: 'Plant' }),
    delimiter: oneOf([',', ';', '\t', '|']).description(
      'Of csv: what stands between cells; what its first line has most of if left out',
    ),
    dates: text({ min: 1, max: 20 })
      .pattern(DATES)
      .messages({ 'string.pattern.base': '{{#label}} must be a form such as dd.mm.yyyy' })
      .description('Of csv: how dates are written; yyyy-mm-dd or a date-time if left out')
      .example('dd.mm.yyyy'),
  })
    .example({ plants: EXAMPLE, photos: [] })
    .xor('plants', 'csv')
    .messages({
      'object.missing': 'plants or csv is required',
      'object.xor': 'csv must not be given beside plants',
    });
}

export const importQuery = Joi.object<{ dryRun?: boolean }, true>({
  dryRun: Joi.boolean().description('Only checks whether it could be done'),
});

export const imported = named(
  'Imported',
  Joi.object({ plants: integer().required(), events: integer().required() }),
);

export const exportQuery = Joi.object<{ format: 'json' | 'csv' }, true>({
  format: oneOf(['json', 'csv'])
    .default('json')
    .description('json has all, and can be imported; csv has the plants alone'),
});

/** What an export is: made while it is sent, and so not checked. */
export const exported = Joi.object().unknown();
