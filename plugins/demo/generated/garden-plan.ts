import type { mongo } from 'mongoose';

import { newId } from '../../../src/core/ids';
import type { Random } from './random';
import { PLACES, type Species, SPECIES } from './species';
import { NICKNAMES } from './wording';

/** A plant of a made-up garden, before its history is written. */
export interface PlannedPlant {
  id: mongo.UUID;
  name: string;
  species: Species;
  location: string;
  /** How many events and, at most, photos it gets. */
  events: number;
  photos: number;
}

/** What a whole garden is to have. */
interface GardenSize {
  plants: number;
  events: number;
  photos: number;
}

/** Draws up a garden of exactly so many plants and events. */
export function planGarden(size: GardenSize, random: Random): PlannedPlant[] {
  const names = new Map<string, number>();
  const garden = Array.from({ length: size.plants }, () => {
    const species = random.pick(SPECIES);
    const name = random.chance(0.25)
      ? `${random.pick(NICKNAMES)} the ${species.name}`
      : species.name;
    const sameName = (names.get(name) ?? 0) + 1;
    names.set(name, sameName);
    return {
      id: newId(),
      name: sameName === 1 ? name : `${name} ${sameName}`,
      species,
      location: random.pick(PLACES[species.light]),
      // What needs more care, and what has been there longer, has more events.
      weight: eventsPerDay(species) * random.between(0.25, 1),
    };
  });
  const weights = garden.map(({ weight }) => weight);
  const events = share(size.events, weights);
  const photos = share(size.photos, weights);
  return garden.map((planned, index) => ({
    ...planned,
    events: events[index] ?? 0,
    photos: photos[index] ?? 0,
  }));
}

/** How many events a plant of a kind has a day, over the years. */
export function eventsPerDay({ wateringDays, feedingDays }: Species): number {
  const seasonal = 7 / 12;
  return 1 / (wateringDays * 1.25) + seasonal / feedingDays + 1 / 30 + 1 / 45 + 1 / 90 + 1 / 330;
}

/** Splits a whole number by weights into whole parts that add up to it. */
function share(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let weighed = 0;
  let given = 0;
  return weights.map((weight, index) => {
    weighed += weight;
    // Sums of fractions may end just short of the whole.
    const upTo = index === weights.length - 1 ? total : Math.round((total * weighed) / sum);
    const part = upTo - given;
    given = upTo;
    return part;
  });
}
