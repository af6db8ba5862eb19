import type { mongo } from 'mongoose';

import type { Account } from '../../../src/core/identity';
import { newId } from '../../../src/core/ids';
import { calendarOf, HOUR_MS } from '../../../src/core/time';
import type { EventDocument } from '../../events';
import type { PhotoDocument } from '../../photos';
import type { PlantDocument } from '../../plants';
import type { HistoryEntry } from './history';
import type { PlannedPlant } from './garden-plan';
import type { Random } from './random';
import { textFor } from './wording';

const PHONE_CAMERA = { width: 3024, height: 4032 };

export function plantDocument(
  userId: string,
  { id, name, species, location }: PlannedPlant,
  facts: { since: Date; primaryPhotoId: mongo.UUID | null },
): PlantDocument {
  return {
    _id: id,
    userId,
    name,
    species: species.botanical,
    location,
    notes: null,
    primaryPhotoId: facts.primaryPhotoId,
    wateringFrequencyDays: species.wateringDays,
    wateringNotes: 'Less often from October to March.',
    lightRequirement: species.light,
    lightNotes: null,
    soilType: species.soil,
    potType: species.pot,
    fertilizerType: species.feed,
    fertilizerFrequencyDays: species.feedingDays,
    fertilizerNotes: 'From March to September only.',
    humidityPreference: species.humidity,
    temperatureNotes: null,
    careNotes: null,
    mossPoleNeeded: species.mossPole,
    toxic: species.toxic,
    // It was written down once it was there, before anything was done for it.
    createdAt: new Date(facts.since.getTime() - HOUR_MS),
    updatedAt: facts.since,
    lastWatered: null,
    lastEvent: null,
    lastFertilized: null,
    lastWatering: null,
    lastFertilizing: null,
  };
}

export function eventDocument(
  { id: userId, timezone }: Pick<Account, 'id' | 'timezone'>,
  ids: { event: mongo.UUID; plant: mongo.UUID },
  { type, at, growth }: HistoryEntry,
  random: Random,
): EventDocument {
  return {
    _id: ids.event,
    userId,
    plantId: ids.plant,
    type,
    text: textFor(type, random),
    growthAmount: growth,
    growthUnit: growth === null ? null : 'cm',
    occurredAt: at,
    occurredOn: calendarOf(timezone)(at),
    createdAt: at,
    updatedAt: at,
    deletedAt: null,
    photos: [],
  };
}

export function photoDocument(
  userId: string,
  { id, species }: PlannedPlant,
  at: Date,
  random: Random,
): PhotoDocument {
  const photoId = newId();
  const name = `${slug(species.name)}/${photoId.toHexString(false)}`;
  const { width, height } = PHONE_CAMERA;
  const crop = random.chance(0.2) ? Math.min(width, height) : null;
  return {
    _id: photoId,
    userId,
    plantId: id,
    imagehostPublicId: `demo/${name}`,
    secureUrl: `https://images.example.com/demo/${name}.jpg`,
    width,
    height,
    format: 'jpg',
    bytes: random.whole(900_000, 3_800_000),
    cropX: crop === null ? null : (width - crop) / 2,
    cropY: crop === null ? null : (height - crop) / 2,
    cropWidth: crop,
    cropHeight: crop,
    createdAt: at,
  };
}

function slug(name: string): string {
  return name.toLowerCase().replace(/[^a-z]+/g, '-');
}
