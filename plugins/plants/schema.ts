import Joi from 'joi';

import type { CreateBody, Document, PatchBody, View } from '../../src/fields/field';
import { text as textSchema } from '../../src/fields/joi';
import { defineRecord } from '../../src/fields/record';
import {
  boolean,
  identified,
  integer,
  oneOf,
  text,
  timestamp,
  timestamps,
  uuid,
} from '../../src/fields/types';

const LIGHT = ['low', 'medium', 'bright_indirect', 'full_sun'] as const;
const POT = ['plastic', 'terracotta', 'ceramic', 'fabric', 'other'] as const;
const HUMIDITY = ['low', 'medium', 'high'] as const;

/** A plant (docs/specification.md, 2.1 to 2.3 and 8). */
export const plant = defineRecord({
  ...identified,
  name: text({ min: 1, max: 100 }).describe('What the person calls it'),
  species: text({ max: 100 }).nullable().describe('Botanical or common species'),
  location: text({ max: 100 }).nullable().describe('Where it stands, such as a room'),
  notes: text({ max: 1000 }).nullable(),
  primaryPhotoId: uuid().nullable().describe('One of your photos'),
  wateringFrequencyDays: integer(1, 365).nullable().describe('Days between waterings'),
  wateringNotes: text({ max: 500 }).nullable(),
  lightRequirement: oneOf(LIGHT).nullable(),
  lightNotes: text({ max: 500 }).nullable(),
  soilType: text({ max: 100 }).nullable(),
  potType: oneOf(POT).nullable(),
  fertilizerType: text({ max: 100 }).nullable(),
  fertilizerFrequencyDays: integer(1, 365).nullable().describe('Days between feedings'),
  fertilizerNotes: text({ max: 500 }).nullable(),
  humidityPreference: oneOf(HUMIDITY).nullable(),
  temperatureNotes: text({ max: 500 }).nullable(),
  mossPoleNeeded: boolean().default(false).describe('Whether it climbs a moss pole'),
  toxic: boolean().default(false).describe('Whether it is toxic to pets or people'),
  careNotes: text({ max: 1000 }).nullable(),
  ...timestamps,
  lastWatered: timestamp()
    .nullable()
    .readOnly()
    .describe('The greatest occurredAt of its waterings, in whatever order they were logged'),
  lastEvent: timestamp().nullable().readOnly().describe('The greatest occurredAt of its events'),
});

export type CreatePlant = CreateBody<typeof plant.fields>;
export type UpdatePlant = PatchBody<typeof plant.fields>;
export type PlantDocument = Document<typeof plant.fields>;

/** A plant as it is shown: with its primary photo, where it has one. */
export type PlantView = View<typeof plant.fields> & { primaryPhoto?: object };

/** When a plant was last cared for. */
export type LastCare = Pick<PlantDocument, 'lastWatered' | 'lastEvent'>;

export const locations = Joi.array().items(textSchema({ min: 1 }));
