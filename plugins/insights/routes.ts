import { type Operation, read } from '../../src/plugins/operation';
import { insights as insightsSchema } from './schema';
import type { InsightService } from './service';

/** Operations on insights (docs/specification.md, 4.4). */
export function routes(insights: InsightService): Operation[] {
  return [
    read({
      path: '/api/insights',
      summary: 'Read what all the care adds up to',
      access: { scope: 'insights:read' },
      response: { schema: insightsSchema, description: 'The insights' },
      tool: {
        name: 'get_insights',
        description:
          "Read what the care of all plants adds up to: totals, care by day over the last 365 days, watering streaks in days, species, and growth by plant and unit. Days are calendar days in the account's time zone. For the history of one plant use list_events.",
      },
      handler: ({ account, now, validUntil }) => insights.read(account, now, validUntil),
    }),
  ];
}
