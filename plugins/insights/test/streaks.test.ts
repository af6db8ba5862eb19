import { resetClock, setClock } from '../../../test/support/clock';
import { insightsOf, water } from '../../../test/support/insights';
import type { TestService, TestUser } from '../../../test/support/service';
import { startService } from '../../../test/support/program';

const TODAY = '2026-03-15';
const TEN_YEARS = 10 * 365 * 24 * 60 * 60;

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock(`${TODAY}T12:00:00Z`);
  user = await service.user({ expiresInSeconds: TEN_YEARS });
  plantId = (await user.plant()).id;
});
afterEach(resetClock);
afterAll(() => service.close());

async function streaks() {
  return (await insightsOf(user)).wateringStreaks;
}

const MARCH = (...days: number[]): string[] =>
  days.map((day) => `2026-03-${String(day).padStart(2, '0')}`);

test.each<[string, string[], { currentStreak: number; longestStreak: number }]>([
  ['today alone', MARCH(15), { currentStreak: 1, longestStreak: 1 }],
  ['yesterday alone', MARCH(14), { currentStreak: 1, longestStreak: 1 }],
  ['the day before yesterday alone', MARCH(13), { currentStreak: 0, longestStreak: 1 }],
  ['today and yesterday', MARCH(14, 15), { currentStreak: 2, longestStreak: 2 }],
  ['three days up to yesterday', MARCH(12, 13, 14), { currentStreak: 3, longestStreak: 3 }],
  ['today and, after a gap, two days', MARCH(12, 13, 15), { currentStreak: 1, longestStreak: 2 }],
  ['a longer run in the past', MARCH(1, 2, 3, 4, 14, 15), { currentStreak: 2, longestStreak: 4 }],
  ['every other day', MARCH(9, 11, 13, 15), { currentStreak: 1, longestStreak: 1 }],
  ['a run that is over', MARCH(5, 6, 7), { currentStreak: 0, longestStreak: 3 }],
])('streaks are correct for waterings on %s', async (_what, days, expected) => {
  await water(user, plantId, days);
  expect(await streaks()).toEqual({ ...expected, lastWateredDate: days.at(-1) });
});

test('several waterings on a day, even of several plants, are one day of a streak', async () => {
  const other = await user.plant();
  await water(user, plantId, [...MARCH(15, 15, 13), '2026-03-15T00:00:00Z']);
  await water(user, other.id, [...MARCH(14, 14), '2026-03-14T23:59:59.999Z']);
  expect(await streaks()).toMatchObject({ currentStreak: 3, longestStreak: 3 });
});

test('the days of a streak may be logged in any order', async () => {
  for (const day of MARCH(13, 15, 12, 14)) await water(user, plantId, [day]);
  expect(await streaks()).toMatchObject({ currentStreak: 4, longestStreak: 4 });
});

test('only waterings count', async () => {
  for (const type of ['fertilized', 'repotted', 'soil_change', 'note', 'journal', 'growth']) {
    await user.event(plantId, { type });
  }
  expect(await streaks()).toEqual({ currentStreak: 0, longestStreak: 0, lastWateredDate: null });
});

test('a watering tomorrow begins no current streak, but extends one that includes today', async () => {
  await water(user, plantId, MARCH(16));
  expect(await streaks()).toMatchObject({ currentStreak: 0, longestStreak: 1 });
  await water(user, plantId, MARCH(13, 14));
  expect(await streaks()).toMatchObject({ currentStreak: 2, longestStreak: 2 });
  await water(user, plantId, MARCH(15));
  expect(await streaks()).toEqual({
    currentStreak: 4,
    longestStreak: 4,
    lastWateredDate: '2026-03-16',
  });
});

test('streaks continue across the ends of months and years, and across 29 February', async () => {
  await water(user, plantId, [
    '2025-12-30',
    '2025-12-31',
    '2026-01-01',
    '2026-01-02',
    '2026-01-03',
  ]);
  expect((await streaks()).longestStreak).toBe(5);
  const leap = ['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02', '2024-03-03'];
  await water(user, plantId, leap);
  expect((await streaks()).longestStreak).toBe(6);
});

test('28 February and 1 March are consecutive in a common year, but not in a leap year', async () => {
  await water(user, plantId, ['2024-02-28', '2024-03-01']);
  expect((await streaks()).longestStreak).toBe(1);
  await water(user, plantId, ['2025-02-28', '2025-03-01']);
  expect((await streaks()).longestStreak).toBe(2);
});

test('a streak ends on the second day after its last watering', async () => {
  await water(user, plantId, MARCH(13, 14, 15));
  const expected = [
    ['2026-03-15T23:59:59.999Z', 3],
    ['2026-03-16T00:00:00.000Z', 3],
    ['2026-03-16T23:59:59.999Z', 3],
    ['2026-03-17T00:00:00.000Z', 0],
  ] as const;
  for (const [moment, currentStreak] of expected) {
    setClock(moment);
    expect(await streaks()).toMatchObject({ currentStreak, longestStreak: 3 });
  }
});

test('deleting and moving waterings splits and joins streaks', async () => {
  const [, middle] = await water(user, plantId, MARCH(13, 14, 15));
  await user.delete(`/api/events/${middle?.id ?? ''}`).expect(200);
  expect(await streaks()).toMatchObject({ currentStreak: 1, longestStreak: 1 });
  const [far] = await water(user, plantId, ['2026-01-01']);
  const occurredAt = '2026-03-14T08:00:00Z';
  await user.patch(`/api/events/${far?.id ?? ''}`, { occurredAt }).expect(200);
  expect(await streaks()).toMatchObject({ currentStreak: 3, longestStreak: 3 });
});

test('deleting a plant removes its waterings from the streak at once', async () => {
  const other = await user.plant();
  await water(user, other.id, MARCH(14));
  await water(user, plantId, MARCH(13, 15));
  expect((await streaks()).currentStreak).toBe(3);
  await user.delete(`/api/plants/${other.id}`).expect(200);
  expect(await streaks()).toEqual({
    currentStreak: 1,
    longestStreak: 1,
    lastWateredDate: '2026-03-15',
  });
});
