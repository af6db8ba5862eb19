import { type Operation, read } from '../../src/plugins/operation';
import { insights as insightsSchema, insightsQuery } from './schema';
import type { InsightService } from './service';

/** Operations on insights (docs/specification.md, 4.4). */
export function routes(insights: InsightService): Operation[] {
  return [
    read({
      path: '/api/insights',
      summary: 'Read insights',
      description:
        "Totals, watering streaks, species, care by day, and growth. `sections` selects sections, separated by commas; by default all but `growthSeries`. `from` and `to` select the days of `careActivityByDay`, by default the last 365; `plantId` selects the plant of `growthTracking` and `growthSeries`. Days are those of the account's time zone.",
      access: { scope: 'insights:read' },
      query: insightsQuery,
      response: { schema: insightsSchema, description: 'The insights' },
      tool: {
        name: 'get_insights',
        description:
          'Read totals (overview) and watering streaks in days. sections names others: speciesDistribution, careActivityByDay (from, to), growthTracking (totals by plant and unit) and growthSeries (by month, last 12 months; both by plantId). For single events, or growth since a moment, use search_events.',
        defaults: { sections: 'overview,wateringStreaks' },
        narrow:
          'Ask for fewer sections, or fewer days of careActivityByDay (from, to), or growth of one plant (plantId). For single species use list_plants with q.',
      },
      handler: ({ account, query, ...call }) => insights.read(account, query, call),
    }),
  ];
}
