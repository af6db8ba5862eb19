import type { TestUser } from './service';
import { bodyOf } from './shapes';

/** Section 2.11, as a client sees it. */
export interface Insights {
  overview: {
    totalPlants: number;
    totalEvents: number;
    totalPhotos: number;
    daysSinceFirstPlant: number | null;
    mostActiveDay: string | null;
  };
  careActivityByDay: { date: string; type: string; count: number }[];
  wateringStreaks: {
    currentStreak: number;
    longestStreak: number;
    lastWateredDate: string | null;
  };
  speciesDistribution: { species: string | null; count: number }[];
  growthTracking: {
    plantId: string;
    plantName: string;
    unit: string | null;
    total: number;
    measurements: number;
    firstDate: string;
    lastDate: string;
  }[];
}

export async function insightsOf(user: TestUser): Promise<Insights> {
  const response = await user.get('/api/insights').expect(200);
  return bodyOf(response) as unknown as Insights; // Its fields are what the tests compare.
}

/** Logs a watering at each of the moments; a day alone is its noon in UTC. */
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
