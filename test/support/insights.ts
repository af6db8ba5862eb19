import type { InsightsView } from '../../plugins/insights/schema';
import type { TestUser } from './service';
import { bodyOf } from './shapes';

export async function insightsOf(user: TestUser, query = ''): Promise<InsightsView> {
  const response = await user.get(`/api/insights?${query}`).expect(200);
  return bodyOf(response) as unknown as InsightsView; // Tests compare its fields.
}

/** Logs a watering at each moment; a day without a time is noon in UTC. */
export async function water(
  user: TestUser,
  plantId: string,
  moments: readonly string[],
): Promise<{ id: string }[]> {
  return Promise.all(
    moments.map((moment) =>
      user.event(plantId, { occurredAt: moment.includes('T') ? moment : `${moment}T12:00:00Z` }),
    ),
  );
}
