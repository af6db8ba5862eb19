import Joi from 'joi';

import type { StoredId } from '../../src/core/ids';
import type { DatedMoment } from '../../src/core/time';
import type { CreateBody, Document, PatchBody, View } from '../../src/fields/field';
import {
  day,
  instant,
  integer as integerSchema,
  oneOf as oneOfSchema,
  text as textSchema,
  withKeys,
  named,
} from '../../src/fields/joi';
import { defineRecord } from '../../src/fields/record';
import {
  boolean,
  datedMoment,
  identified,
  integer,
  oneOf,
  text,
  timestamp,
  timestamps,
  uuid,
} from '../../src/fields/types';
import { type PhotoView, photoView } from '../photos';

const LIGHT = ['low', 'medium', 'bright_indirect', 'full_sun'] as const;
const POT = ['plastic', 'terracotta', 'ceramic', 'fabric', 'other'] as const;
const HUMIDITY = ['low', 'medium', 'high'] as const;

const ARCHIVE_REASONS = ['died', 'given_away', 'sold', 'other'] as const;
export type ArchiveReason = (typeof ARCHIVE_REASONS)[number];

/** The longest name of a location. */
const MAX_LOCATION = 100;

const FROM_EVENTS = 'it follows from the events of the plant';

/** A plant (docs/specification.md, 2.1 to 2.3 and 8). */
export const plant = defineRecord({
  ...identified,
  name: text({ min: 1, max: 100 }).example('Monstera'),
  species: text({ max: 100 })
    .nullable()
    .describe('Botanical or common name')
    .example('Monstera deliciosa'),
  location: text({ max: MAX_LOCATION })
    .nullable()
    .describe('Such as a room')
    .example('Living room'),
  notes: text({ max: 1000 }).nullable(),
  primaryPhotoId: uuid().nullable().describe('One of your photos'),
  wateringFrequencyDays: integer(1, 365).nullable().describe('Days between waterings').example(7),
  wateringNotes: text({ max: 500 }).nullable(),
  lightRequirement: oneOf(LIGHT).named('LightRequirement').nullable(),
  lightNotes: text({ max: 500 }).nullable(),
  soilType: text({ max: 100 }).nullable(),
  potType: oneOf(POT).named('PotType').nullable(),
  fertilizerType: text({ max: 100 }).nullable(),
  fertilizerFrequencyDays: integer(1, 365).nullable().describe('Days between feedings'),
  fertilizerNotes: text({ max: 500 }).nullable(),
  humidityPreference: oneOf(HUMIDITY).named('HumidityPreference').nullable(),
  temperatureNotes: text({ max: 500 }).nullable(),
  mossPoleNeeded: boolean().default(false).describe('Whether it climbs a moss pole'),
  toxic: boolean().default(false).describe('Whether it is toxic to pets or people'),
  careNotes: text({ max: 1000 }).nullable(),
  ...timestamps,
  lastWatered: timestamp()
    .nullable()
    .readOnly(FROM_EVENTS)
    .describe('The latest occurredAt of its waterings'),
  lastEvent: timestamp()
    .nullable()
    .readOnly(FROM_EVENTS)
    .describe('The latest occurredAt of its events'),
  lastFertilized: timestamp().nullable().internal(),
  lastWatering: datedMoment().nullable().internal(),
  lastFertilizing: datedMoment().nullable().internal(),
  // Missing in plants of earlier versions.
  archivedAt: timestamp().nullable().internal(),
  archiveReason: oneOf(ARCHIVE_REASONS).nullable().internal(),
});

export type CreatePlant = CreateBody<typeof plant.fields>;
export type UpdatePlant = PatchBody<typeof plant.fields>;
export interface PlantDocument extends Document<typeof plant.fields> {
  /** The id in the export from which it was imported, if any. */
  originalId?: StoredId;
}

export const archiveReason = named('ArchiveReason', oneOfSchema(ARCHIVE_REASONS));

/** The fields that only archived plants have. */
interface ArchivedView {
  archivedAt: Date;
  archiveReason: ArchiveReason;
}
const archivedView = {
  archivedAt: instant().description(
    'When the person lost it or gave it away; only if it is archived',
  ),
  archiveReason: archiveReason.description('Only if it is archived'),
};

/** These fields of a stored plant; none if it is active. */
export function archivedOf({ archivedAt, archiveReason }: PlantDocument): Partial<ArchivedView> {
  return archivedAt && archiveReason ? { archivedAt, archiveReason } : {};
}

export interface ArchivePlant {
  reason: ArchiveReason;
  on?: string;
}
export const archivePlant = Joi.object<ArchivePlant, true>({
  reason: archiveReason.required(),
  on: day().example('2026-03-01').description('The day on which it died or left; by default today'),
});

/** The view of a plant, with its primary photo if it has one. */
export type PlantView = View<typeof plant.fields> & {
  primaryPhoto?: PhotoView;
} & Partial<ArchivedView>;
export const plantView = named(
  'Plant',
  withKeys<PlantView>(plant.view, { primaryPhoto: photoView, ...archivedView }),
);

const {
  id,
  name,
  species,
  location,
  wateringFrequencyDays,
  fertilizerFrequencyDays,
  lastWatered,
  lastEvent,
} = plant.fields;

/** A plant in short form. */
export const plantSummary = defineRecord({
  id,
  name,
  species,
  location,
  wateringFrequencyDays,
  fertilizerFrequencyDays,
  lastWatered,
  lastEvent,
});

export type SummaryView = View<typeof plantSummary.fields> & Partial<ArchivedView>;
export const summaryView = named(
  'PlantSummary',
  withKeys<SummaryView>(plantSummary.view, archivedView),
);

/** A location of a request. */
export const locationFilter = textSchema({ min: 1, max: MAX_LOCATION }).description(
  'Only plants at this location',
);

/** Filters for the plants of each status. */
export const STATUSES = {
  active: { archivedAt: null },
  archived: { archivedAt: { $ne: null } },
  all: {},
} as const;
export type PlantStatus = keyof typeof STATUSES;

const SORTS = ['name', 'createdAt', 'lastWatered'] as const;
const ORDERS = ['asc', 'desc'] as const;

export interface PlantListQuery {
  status: PlantStatus;
  location?: string;
  q?: string;
  sort: (typeof SORTS)[number];
  order: (typeof ORDERS)[number];
}

export const plantListQuery = Joi.object<PlantListQuery, true>({
  status: oneOfSchema(Object.keys(STATUSES)).default('active'),
  location: locationFilter,
  q: textSchema({ min: 1, max: 100 }).description(
    'Part of the name or species; case and accents do not count',
  ),
  sort: oneOfSchema(SORTS)
    .default('createdAt')
    .description(
      "name: by the account's language; lastWatered: plants that were never watered come last",
    ),
  order: oneOfSchema(ORDERS).default('asc'),
});

/** The last care of a plant. */
export type LastCareFields = Pick<
  PlantDocument,
  'lastWatered' | 'lastWatering' | 'lastFertilized' | 'lastFertilizing' | 'lastEvent'
>;

/** Care that recurs by a frequency of the plant, and the fields for it. */
export const RECURRING_CARE = {
  watered: {
    everyDays: 'wateringFrequencyDays',
    lastDone: 'lastWatered',
    last: 'lastWatering',
  },
  fertilized: {
    everyDays: 'fertilizerFrequencyDays',
    lastDone: 'lastFertilized',
    last: 'lastFertilizing',
  },
} as const;
export type RecurringCare = keyof typeof RECURRING_CARE;
// The keys of the object that the type is made from.
export const RECURRING_TYPES = Object.keys(RECURRING_CARE) as readonly RecurringCare[];

/** The last care of a type, as fields of a plant. */
export function careOn(type: RecurringCare, last: DatedMoment | null): Partial<LastCareFields> {
  const fields = RECURRING_CARE[type];
  return { [fields.lastDone]: last?.at ?? null, [fields.last]: last };
}

export function isRecurring(type: string): type is RecurringCare {
  return Object.hasOwn(RECURRING_CARE, type);
}

export interface RenameLocation {
  from: string;
  to: string;
}
export const renameLocation = Joi.object<RenameLocation, true>({
  from: locationFilter
    .required()
    .description('The location; case counts, outer white space does not')
    .example('Living room'),
  to: textSchema({ min: 1, max: MAX_LOCATION })
    .pattern(/\S/)
    .messages({ 'string.pattern.base': '{{#label}} must not be blank' })
    .required()
    .description('Its new name')
    .example('Sunroom'),
});
export const renamed = Joi.object<{ plants: number }, true>({
  plants: integerSchema(0).required(),
});

export const locations = Joi.array().items(textSchema({ min: 1 }).example('Living room'));
