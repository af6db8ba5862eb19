import { record, records } from '../support/client';
import { type Actor, same } from './actor';
import { byText, insightsOf } from './insights';

/** Compares the insights; midnight may pass meanwhile. */
export async function expectInsights(actor: Actor): Promise<void> {
  const before = new Date();
  const { status, body } = await actor.get('/api/insights');
  same(status, 200, 'GET /api/insights');
  const insights = record(body);
  const species = records(insights['speciesDistribution']);
  const counts = species.map(({ count }) => Number(count));
  same(
    counts,
    [...counts].sort((a, b) => b - a),
    'the species come most first',
  );
  const actual = {
    ...insights,
    speciesDistribution: species.sort(byText),
    growthTracking: records(insights['growthTracking']).sort(byText),
  };
  const after = insightsOf(actor.garden, new Date());
  try {
    same(actual, insightsOf(actor.garden, before), 'GET /api/insights');
  } catch {
    same(actual, after, 'GET /api/insights');
  }
}
