import Joi from 'joi';

import { id, instant, integer, nullable, oneOf, text } from '../../src/schema';
import { photo, type PhotoView } from '../photos/schema';

const LIGHT = ['low', 'medium', 'bright_indirect', 'full_sun'] as const;
const POT = ['plastic', 'terracotta', 'ceramic', 'fabric', 'other'] as const;
const HUMIDITY = ['low', 'medium', 'high'] as const;

/** What a caller may say of a plant and take back with null. */
export interface PlantDetails {
  species: string | null;
  location: string | null;
  notes: string | null;
  primaryPhotoId: string | null;
  wateringFrequencyDays: number | null;
  wateringNotes: string | null;
  lightRequirement: (typeof LIGHT)[number] | null;
  lightNotes: string | null;
  soilType: string | null;
  potType: (typeof POT)[number] | null;
  fertilizerType: string | null;
  fertilizerFrequencyDays: number | null;
  fertilizerNotes: string | null;
  humidityPreference: (typeof HUMIDITY)[number] | null;
  temperatureNotes: string | null;
  careNotes: string | null;
}

/** What every plant has. */
export interface PlantEssentials {
  name: string;
  mossPoleNeeded: boolean;
  toxic: boolean;
}

/** Limits of section 8. */
const details: Record<keyof PlantDetails, Joi.Schema> = {
  species: text({ max: 100 }).description('Botanical or common species'),
  location: text({ max: 100 }).description('Where it stands, such as a room'),
  notes: text({ max: 1000 }),
  primaryPhotoId: id().description('One of your photos'),
  wateringFrequencyDays: integer(1, 365).description('Days between waterings'),
  wateringNotes: text({ max: 500 }),
  lightRequirement: oneOf(LIGHT),
  lightNotes: text({ max: 500 }),
  soilType: text({ max: 100 }),
  potType: oneOf(POT),
  fertilizerType: text({ max: 100 }),
  fertilizerFrequencyDays: integer(1, 365).description('Days between feedings'),
  fertilizerNotes: text({ max: 500 }),
  humidityPreference: oneOf(HUMIDITY),
  temperatureNotes: text({ max: 500 }),
  careNotes: text({ max: 1000 }),
};

const essentials: Record<keyof PlantEssentials, Joi.Schema> = {
  name: text({ min: 1, max: 100 }).description('What the person calls it'),
  mossPoleNeeded: Joi.boolean().description('Whether it climbs a moss pole'),
  toxic: Joi.boolean().description('Whether it is toxic to pets or people'),
};

/** The fields of a plant that callers set and that may be null, each with its schema. */
export const DETAILS = Object.entries(details) as [keyof PlantDetails, Joi.Schema][]; // Its very keys.

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> };

export type CreatePlant = PlantEssentials & Given<PlantDetails>;

/** Section 2.2. */
export const createPlant = Joi.object<CreatePlant>({
  ...details,
  name: essentials.name.required(),
  mossPoleNeeded: essentials.mossPoleNeeded.default(false),
  toxic: essentials.toxic.default(false),
});

export type UpdatePlant = Partial<PlantEssentials & PlantDetails>;

const nullableDetails = Object.fromEntries(
  Object.entries(details).map(([name, schema]) => [name, nullable(schema)]),
);

/** Section 2.3, with every field of CreatePlant (decisions.md, "Plants"). */
export const updatePlant = Joi.object<UpdatePlant>({ ...essentials, ...nullableDetails });

export type PlantView = PlantEssentials &
  PlantDetails & {
    id: string;
    userId: string;
    createdAt: Date;
    updatedAt: Date;
    primaryPhoto?: PhotoView;
    lastWatered: Date | null;
    lastEvent: Date | null;
  };

/** Section 2.1. */
export const plant = Joi.object<PlantView>({
  id: id().required(),
  userId: text().required(),
  ...Object.fromEntries(
    [...Object.entries(essentials), ...Object.entries(nullableDetails)].map(([name, schema]) => [
      name,
      schema.required(),
    ]),
  ),
  createdAt: instant().required(),
  updatedAt: instant().required(),
  primaryPhoto: photo,
  lastWatered: nullable(instant()).required(),
  lastEvent: nullable(instant()).required(),
});

export const plants = Joi.array().items(plant);

export const locations = Joi.array().items(text({ min: 1 }));
