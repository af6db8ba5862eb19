import { type Operation, read } from '../../src/plugins/operation';
import { insights as insightsSchema, insightsQuery } from './schema';
import type { InsightService } from './service';

/** Operations on insights (docs/specification.md, 4.4). */
export function routes(insights: InsightService): Operation[] {
  return [
    read({
      path: '/api/insights',
      summary: 'Read what all the care adds up to',
      access: { scope: 'insights:read' },
      query: insightsQuery,
      response: { schema: insightsSchema, description: 'The insights' },
      tool: {
        name: 'get_insights',
        description:
          "Read what the care of all plants adds up to: totals (overview), watering streaks in days, species, and growth of all time by plant and unit. How much was done on which day (careActivityByDay) is long, and there only when sections has it: over the last 365 days unless from and to say otherwise. Days are calendar days in the account's time zone. For single events, or the growth since a moment, use search_events.",
        defaults: { sections: 'overview,wateringStreaks,speciesDistribution,growthTracking' },
      },
      handler: ({ account, query, ...call }) => insights.read(account, query, call),
    }),
  ];
}
