import { resetClock, setClock } from '../../../test/support/clock';
import { insightsOf } from '../../../test/support/insights';
import type { TestService, TestUser } from '../../../test/support/service';
import { DAY_MS } from '../../../src/core/time';
import { startService } from '../../../test/support/program';

/** A Sunday. */
const NOW = '2026-03-15T12:00:00.000Z';
const NOON = Date.parse(NOW);

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock(NOW);
  user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 3600 });
});
afterEach(resetClock);
afterAll(() => service.close());

const NOTHING = {
  overview: {
    totalPlants: 0,
    totalEvents: 0,
    totalPhotos: 0,
    daysSinceFirstPlant: null,
    mostActiveDay: null,
  },
  careActivityByDay: [],
  wateringStreaks: { currentStreak: 0, longestStreak: 0, lastWateredDate: null },
  speciesDistribution: [],
  growthTracking: [],
};

test('the insights of a new account have every section, all empty', async () => {
  expect(await insightsOf(user)).toEqual(NOTHING);
});

test('insights cover only the account’s own plants, events and photos', async () => {
  const other = await service.user();
  const theirs = await other.plant({ species: 'Theirs' });
  await other.event(theirs.id);
  await other.photo();
  const plant = await user.plant({ name: 'Fern', species: 'Nephrolepis' });
  await user.event(plant.id);
  await user.event(plant.id, { type: 'growth', growthAmount: 1.5, growthUnit: 'cm' });
  await user.photo();
  expect(await insightsOf(user)).toEqual({
    overview: {
      totalPlants: 1,
      totalEvents: 2,
      totalPhotos: 1,
      daysSinceFirstPlant: 0,
      mostActiveDay: 'Sunday',
    },
    careActivityByDay: [
      { date: '2026-03-15', type: 'growth', count: 1 },
      { date: '2026-03-15', type: 'watered', count: 1 },
    ],
    wateringStreaks: { currentStreak: 1, longestStreak: 1, lastWateredDate: '2026-03-15' },
    speciesDistribution: [{ species: 'Nephrolepis', count: 1 }],
    growthTracking: [
      {
        plantId: plant.id,
        plantName: 'Fern',
        unit: 'cm',
        total: 1.5,
        measurements: 1,
        firstDate: '2026-03-15',
        lastDate: '2026-03-15',
      },
    ],
  });
});

test('a deleted event and a deleted plant disappear from all totals at once', async () => {
  const plant = await user.plant({ species: 'Nephrolepis' });
  const [event] = await Promise.all([
    user.event(plant.id),
    user.event(plant.id, { type: 'growth', growthAmount: 1, growthUnit: 'in' }),
  ]);
  await user.delete(`/api/events/${event.id}`).expect(200);
  expect(await insightsOf(user)).toMatchObject({
    overview: { totalEvents: 1 },
    careActivityByDay: [{ date: '2026-03-15', type: 'growth', count: 1 }],
    wateringStreaks: { currentStreak: 0, longestStreak: 0, lastWateredDate: null },
  });
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  expect(await insightsOf(user)).toEqual(NOTHING);
});

describe('daysSinceFirstPlant', () => {
  const days = async () => (await insightsOf(user)).overview.daysSinceFirstPlant;

  test('is counted in whole days', async () => {
    await user.plant();
    setClock(NOON + DAY_MS - 1);
    expect(await days()).toBe(0);
    setClock(NOON + DAY_MS);
    expect(await days()).toBe(1);
  });

  test('counts from the earliest plant that exists', async () => {
    const oldest = await user.plant();
    setClock(NOON + 6 * DAY_MS);
    await user.plant();
    setClock(NOON + 9 * DAY_MS + 1);
    expect(await days()).toBe(9);
    await user.delete(`/api/plants/${oldest.id}`).expect(200);
    expect(await days()).toBe(3);
  });
});

describe('speciesDistribution', () => {
  test('lists the most frequent first, and plants without a species as null', async () => {
    const species = ['Fern', 'Oak', 'Oak', 'Oak', undefined, undefined];
    await Promise.all(
      species.map((name) => user.plant(name === undefined ? {} : { species: name })),
    );
    expect((await insightsOf(user)).speciesDistribution).toEqual([
      { species: 'Oak', count: 3 },
      { species: null, count: 2 },
      { species: 'Fern', count: 1 },
    ]);
  });

  test('counts exact names and follows changes and deletions', async () => {
    const [a, b, c] = await Promise.all(
      ['oak', 'Oak', 'Oak'].map((species) => user.plant({ species })),
    );
    await user.patch(`/api/plants/${c?.id ?? ''}`, { species: 'oak' }).expect(200);
    expect((await insightsOf(user)).speciesDistribution).toEqual([
      { species: 'oak', count: 2 },
      { species: 'Oak', count: 1 },
    ]);
    await user.delete(`/api/plants/${a?.id ?? ''}`).expect(200);
    await user.patch(`/api/plants/${b?.id ?? ''}`, { species: null }).expect(200);
    const after = (await insightsOf(user)).speciesDistribution;
    expect(after).toHaveLength(2);
    expect(after).toEqual(
      expect.arrayContaining([
        { species: 'oak', count: 1 },
        { species: null, count: 1 },
      ]),
    );
  });
});
