import Joi from 'joi';

import { day, id, integer, notBefore, nullable, text, named } from '../../src/fields/joi';
import { eventType, type EventType, growthUnit, type GrowthUnit } from '../events';

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
  growthSeries: {
    plantId: string;
    plantName: string;
    unit: GrowthUnit | null;
    month: string;
    total: number;
  }[];
}

/** The insights (docs/specification.md, 2.11; docs/api.md, "Insights"). */
export const insights = named(
  'Insights',
  Joi.object<Partial<InsightsView>, true>({
    overview: Joi.object({
      totalPlants: integer(0).required(),
      totalEvents: integer(0).required(),
      totalPhotos: integer(0).required(),
      daysSinceFirstPlant: nullable(integer(0))
        .required()
        .description('Whole days since the earliest createdAt among the plants that exist'),
      mostActiveDay: nullable(Joi.string())
        .required()
        .example('Saturday')
        .description(
          'English name of the weekday with the most events; ties go to the earlier one, Monday first',
        ),
    }),
    careActivityByDay: Joi.array()
      .items(
        Joi.object({
          date: day().required(),
          type: eventType.required(),
          count: integer(1).required(),
        }),
      )
      .description(
        'Events by day and type, by default over the last 365 days; ascending by date, then type; only days with events',
      ),
    wateringStreaks: Joi.object({
      currentStreak: integer(0)
        .required()
        .description(
          'Consecutive days with a watering up to today or yesterday; 0 if there are none',
        ),
      longestStreak: integer(0)
        .required()
        .description('The longest run of consecutive days with a watering'),
      lastWateredDate: nullable(day()).required().description('The last day with a watering'),
    }),
    speciesDistribution: Joi.array()
      .items(
        Joi.object({
          species: nullable(text()).required().example('Monstera deliciosa'),
          count: integer(1).required(),
        }),
      )
      .description(
        'Active plants by species, most frequent first; null for plants without a species',
      ),
    growthTracking: Joi.array()
      .items(
        Joi.object({
          plantId: id().required(),
          plantName: text().required().example('Monstera'),
          unit: nullable(growthUnit).required(),
          total: Joi.number().unsafe().required(),
          measurements: integer(1).required(),
          firstDate: day().required(),
          lastDate: day().required(),
        }),
      )
      .description(
        'Sums of growthAmount by plant and unit; unit is null for growth logged without one',
      ),
    growthSeries: Joi.array()
      .items(
        Joi.object({
          plantId: id().required(),
          plantName: text().required().example('Monstera'),
          unit: nullable(growthUnit).required(),
          month: text().required().example('2026-11'),
          total: Joi.number().unsafe().required(),
        }),
      )
      .description(
        'Only if requested in sections: sums of growthAmount by plant, unit and month over the last 12 months, including this one; only months with growth',
      ),
  }).description(
    "The requested sections, by default all but growthSeries. An event counts on the calendar day that it had in the account's time zone when it was logged or moved",
  ),
);

/** The parts of the insights that can be requested by themselves. */
const SECTIONS = [
  'overview',
  'careActivityByDay',
  'wateringStreaks',
  'speciesDistribution',
  'growthTracking',
  'growthSeries',
] as const satisfies readonly (keyof InsightsView)[];
type Section = (typeof SECTIONS)[number];

export interface InsightsQuery {
  sections?: readonly Section[];
  from?: string;
  to?: string;
  plantId?: string;
}

const ONE_SECTION = `(${SECTIONS.join('|')})`;
const SECTION_LIST = new RegExp(`^${ONE_SECTION}(,${ONE_SECTION})*$`);

const NO_SECTIONS = `{{#label}} must be one or more of ${SECTIONS.join(', ')}, separated by commas`;

/** Names of sections, separated by commas, which become a list. */
const sectionList = Joi.string()
  .custom((names: string, helpers) =>
    SECTION_LIST.test(names) ? names.split(',') : helpers.error('sections.names'),
  )
  .meta({ jsonSchema: { pattern: SECTION_LIST.source } })
  .messages({ 'sections.names': NO_SECTIONS, 'string.empty': NO_SECTIONS })
  .description(`Some of ${SECTIONS.join(', ')}, separated by commas`);

export const insightsQuery = Joi.object<InsightsQuery>({
  sections: sectionList,
  from: day().description(
    'First day of careActivityByDay, included; by default 364 days before the last',
  ),
  to: notBefore('from', day()).description(
    'Last day of careActivityByDay, included; by default today',
  ),
  plantId: id().description('Only growth of this plant'),
});
