import Joi from 'joi';

import type { Author } from '../../src/core/identity';
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
import {
  createSchedule,
  type CreateSchedule,
  keptSnooze,
  type KeptSnooze,
  MAX_SCHEDULES,
  MAX_SNOOZES,
} from '../care';
import { type CreateEvent, createEvent, importedAuthor } from '../events';
import { type CreatePhoto, photo } from '../photos';
import { archiveReason, type ArchiveReason, type CreatePlant, plant } from '../plants';

/** Clocks differ; anything further ahead is a mistake. */
const past = timestamp({ hoursAhead: 24 });
const createdAt = past.description('When it was added, at most 24 hours from now; by default now');
const updatedAt = past.description('When it was last changed; by default now');

/** What each record of an import may have. */
interface Own {
  id?: string;
  createdAt?: Date;
  updatedAt?: Date;
}

export type Crop = Record<'cropX' | 'cropY' | 'cropWidth' | 'cropHeight', number>;

export type ImportedPhoto = Omit<CreatePhoto, 'plantId'> & Partial<Crop> & Own;
export type ImportedEvent = CreateEvent & Own & { occurredOn?: string; by?: Author };
export type PlantFields = CreatePlant & {
  createdAt?: Date;
  archivedAt?: Date;
  archiveReason?: ArchiveReason;
};
export type ImportedSchedule = CreateSchedule & Own;
export type ImportedPlant = PlantFields &
  Own & {
    photos: ImportedPhoto[];
    schedules: ImportedSchedule[];
    snoozes?: KeptSnooze[];
    events: ImportedEvent[];
  };

/** Which part of an export it is; the first is 1. */
export interface Part {
  part: number;
  parts: number;
}

/** The garden of an import. */
export interface ImportedGarden {
  plants: ImportedPlant[];
  /** Photos without a plant. */
  photos: ImportedPhoto[];
  /** If it is part of an export: its records are added once, however often it is imported. */
  part?: Part | undefined;
}

export const importedPhoto = named(
  'ImportedPhoto',
  withKeys<ImportedPhoto>(withoutKey(photo.createBody, 'plantId'), {
    id: id().description('Its name within this body or, in a part, in the export'),
    cropX: integer(0).description('All four crop fields are set or left out together'),
    cropY: integer(0),
    cropWidth: integer(1),
    cropHeight: integer(1),
    createdAt,
    updatedAt,
  }),
);

export const importedEvent = named(
  'ImportedEvent',
  withKeys<ImportedEvent>(createEvent, {
    id: id().description('Its name in the export'),
    occurredOn: day().description(
      "The calendar day of occurredAt where it happened; by default in the account's time zone",
    ),
    by: importedAuthor,
    createdAt,
    updatedAt,
  }),
);

export const importedSchedule = named(
  'ImportedSchedule',
  withKeys<ImportedSchedule>(createSchedule, {
    id: id().description('Its name within this plant'),
    createdAt,
    updatedAt,
  }),
);

/** The fields of a plant itself. */
export const plantFields = withKeys<PlantFields>(plant.createBody, {
  createdAt,
  archivedAt: past.description('When the person lost it or gave it away; for an archived plant'),
  archiveReason: archiveReason.description('By default other, if archivedAt is set'),
});

/** The day of the last care of a kind. */
export function lastDay(what: string): Joi.StringSchema {
  return day().description(`The day of the last ${what}, in the past or today`);
}

/** The days of a plant's last care, each of which becomes an event. */
export interface LastCare {
  lastWatered?: string;
  lastFertilized?: string;
}
export const lastCare = {
  lastWatered: lastDay('watering'),
  lastFertilized: lastDay('feeding'),
};

/** The fields of a line of CSV. */
export const rowFields = withKeys<PlantFields & LastCare>(plantFields, lastCare).messages({
  'boolean.base':
    "{{#label}} must be true or false, yes or no, 1 or 0, or such a word of the account's language",
});
export const ROW_FIELDS = [...descriptionOf(rowFields).keys.keys()];

/** A plant without the lists of its records. */
export const importedFields = withKeys<PlantFields & Own>(plantFields, {
  id: id().description('Its name in the export'),
  updatedAt,
});

const importedPlant = named(
  'ImportedPlant',
  withKeys<ImportedPlant>(importedFields, {
    photos: Joi.array().items(importedPhoto),
    schedules: Joi.array().items(importedSchedule).max(MAX_SCHEDULES),
    snoozes: Joi.array().items(keptSnooze).max(MAX_SNOOZES),
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

export type ImportBody = ({ plants: unknown[]; photos?: unknown[] } & Partial<Part>) | Table;

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
    part: integer(1)
      .description('Which part of an export this is; its records are added once')
      .example(1),
    parts: integer(1).description('How many parts the export has').example(1),
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

export const exportQuery = Joi.object<{ format: 'json' | 'csv'; part?: number }, true>({
  format: oneOf(['json', 'csv'])
    .default('json')
    .description('json has everything and can be imported; csv has the plants only'),
  part: integer(1).description('Of json: which part; by default the first'),
});

/** An export is made while it is sent, so it is not checked. */
export const exported = Joi.object().unknown();
