import Joi from 'joi';

import { TIERS, type Tier } from '../../src/core/identity';
import { id, integer, oneOf, text, timeOfDay, timezone, withKeys } from '../../src/fields/joi';
import { newUserNameFault } from '../../src/core/text/names';
import { type CreateEvent, createEvent } from '../events';
import { type CreatePhoto, photo } from '../photos';
import { type CreatePlant, plant } from '../plants';

/** An event of a seed, relative to now, so that the garden never looks abandoned. */
export interface SeedEvent extends Omit<CreateEvent, 'occurredAt'> {
  daysAgo: number;
  /** Time of the day in UTC: `HH:MM`. */
  at: string;
}

/** A photo of a seed; events of the same plant name it by its id. */
type SeedPhoto = CreatePhoto & { id: string };

type SeedPlant = Omit<CreatePlant, 'primaryPhotoId'> & {
  /** Ignored: plants get new ids. */
  id?: string;
  /** The first is the primary photo. */
  photos: SeedPhoto[];
  events: SeedEvent[];
};

export interface GardenSeed {
  user: string;
  tier: Tier;
  timezone: string;
  plants: SeedPlant[];
}

const photoSeed = withKeys(photo.seed, { plantId: Joi.forbidden() });

const eventSeed = withKeys(createEvent, {
  occurredAt: Joi.forbidden(),
  daysAgo: integer(0, 36_500).required(),
  at: timeOfDay().required(),
});

const plantSeed = withKeys(plant.seed, {
  id: id(),
  primaryPhotoId: Joi.forbidden(),
  photos: Joi.array().items(photoSeed).default([]),
  events: Joi.array().items(eventSeed).default([]),
})
  .custom((value: SeedPlant, helpers) => {
    const known = new Set(value.photos.map((each) => each.id.toLowerCase()));
    const named = value.events.flatMap(({ photoIds = [] }) => photoIds);
    const missing = named.find((photoId) => !known.has(photoId.toLowerCase()));
    return missing === undefined ? value : helpers.error('seed.photo', { missing });
  })
  .messages({ 'seed.photo': '{{#label}} has no photo {{#missing}}, which an event names' });

/** `seeds/garden.json`; the schemas of requests check its fields. */
export const gardenSeed = Joi.object<GardenSeed, true>({
  user: text({ min: 1 })
    .required()
    .custom((name: string, helpers) => {
      const fault = newUserNameFault(name);
      return fault === undefined ? name : helpers.message({ custom: `{{#label}} ${fault}` });
    }),
  tier: oneOf(TIERS).required(),
  timezone: timezone().required(),
  plants: Joi.array().items(plantSeed).required(),
})
  .custom((garden: GardenSeed, helpers) => {
    const ids = garden.plants.flatMap((each) => each.photos.map((photo) => photo.id.toLowerCase()));
    const twice = ids.find((each, at) => ids.indexOf(each) !== at);
    return twice === undefined ? garden : helpers.error('seed.twice', { twice });
  })
  .messages({ 'seed.twice': 'plants must not have two photos with the id {{#twice}}' });
