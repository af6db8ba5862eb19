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
          "Read what the care of all plants adds up to: totals (overview), care by day (careActivityByDay), watering streaks in days, species, and growth by plant and unit. Ask only for the sections that you need: care by day is long. Days are calendar days in the account's time zone. For single events use search_events.",
      },
      handler: ({ account, query, now, validUntil }) =>
        insights.read(account, query, now, validUntil),
    }),
  ];
}
