import Joi from 'joi';

import { id, integer, nullable, oneOf, text } from '../../src/fields/joi';
import { EVENT_TYPES, type EventType, GROWTH_UNITS, type GrowthUnit } from '../events';

const day = () => Joi.string().meta({ jsonSchema: { format: 'date' } });

export interface InsightsView {
  overview: {
    totalPlants: number;
    totalEvents: number;
    totalPhotos: number;
    daysSinceFirstPlant: number | null;
    mostActiveDay: string | null;
  };
  careActivityByDay: { date: string; type: EventType; count: number }[];
  wateringStreaks: {
    currentStreak: number;
    longestStreak: number;
    lastWateredDate: string | null;
  };
  speciesDistribution: { species: string | null; count: number }[];
  growthTracking: {
    plantId: string;
    plantName: string;
    unit: GrowthUnit | null;
    total: number;
    measurements: number;
    firstDate: string;
    lastDate: string;
  }[];
}

/** The insights (docs/specification.md, 2.11; docs/decisions.md, "Insights"). */
export const insights = Joi.object<InsightsView, true>({
  overview: Joi.object({
    totalPlants: integer(0).required(),
    totalEvents: integer(0).required(),
    totalPhotos: integer(0).required(),
    daysSinceFirstPlant: nullable(integer(0)).required(),
    mostActiveDay: nullable(Joi.string()).required(),
  }).required(),
  careActivityByDay: Joi.array()
    .items(
      Joi.object({
        date: day().required(),
        type: oneOf(EVENT_TYPES).required(),
        count: integer(1).required(),
      }),
    )
    .required(),
  wateringStreaks: Joi.object({
    currentStreak: integer(0).required(),
    longestStreak: integer(0).required(),
    lastWateredDate: nullable(day()).required(),
  }).required(),
  speciesDistribution: Joi.array()
    .items(Joi.object({ species: nullable(text()).required(), count: integer(1).required() }))
    .required(),
  growthTracking: Joi.array()
    .items(
      Joi.object({
        plantId: id().required(),
        plantName: text().required(),
        unit: nullable(oneOf(GROWTH_UNITS)).required(),
        total: Joi.number().unsafe().required(),
        measurements: integer(1).required(),
        firstDate: day().required(),
        lastDate: day().required(),
      }),
    )
    .required(),
});
