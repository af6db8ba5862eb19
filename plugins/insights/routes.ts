import { type Operation, read } from '../../src/plugins/operation';
import { insights as insightsSchema, insightsQuery } from './schema';
import type { InsightService } from './service';

/** Operations on insights (docs/specification.md, 4.4). */
export function routes(insights: InsightService): Operation[] {
  return [
    read({
      path: '/api/insights',
      summary: 'Read what all the care adds up to',
      description:
        "Totals, watering streaks, species, the care of each day and growth. `sections` names the parts that are wanted, by comma; without it all but `growthSeries` are there. `from` and `to` are the days of `careActivityByDay`, which is of the last 365 without them. Days are those of the account's time zone.",
      access: { scope: 'insights:read' },
      query: insightsQuery,
      response: { schema: insightsSchema, description: 'The insights' },
      tool: {
        name: 'get_insights',
        description:
          'Read what the care of all plants adds up to: totals (overview), watering streaks in days, species, and growth of all time by plant and unit (of the last 12 months by month: growthSeries, when sections has it). How much was done on which day (careActivityByDay) is long, and there only when sections has it: over the last 365 days unless from and to say otherwise. Events keep the day that they were logged on, whatever the time zone is now. For single events, or the growth since a moment, use search_events.',
        defaults: { sections: 'overview,wateringStreaks,speciesDistribution,growthTracking' },
      },
      handler: ({ account, query, ...call }) => insights.read(account, query, call),
    }),
  ];
}
