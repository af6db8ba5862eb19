import { resetClock, setClock } from '../../../test/support/clock';
import { insightsOf, water } from '../../../test/support/insights';
import type { TestService, TestUser } from '../../../test/support/service';
import { differencesOf, logMany, startService } from '../../../test/support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(resetClock);
afterAll(() => service.close());

/** A user in a time zone, at a moment, with a plant. */
async function userAt(timezone: string, now: string): Promise<{ user: TestUser; plantId: string }> {
  setClock(now);
  const user = await service.user({ timezone, expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  return { user, plantId: (await user.plant()).id };
}

async function days(user: TestUser): Promise<string[]> {
  return (await insightsOf(user)).careActivityByDay.map(({ date, count }) => `${date} ${count}`);
}

test.each([
  ['UTC', '2026-03-15T00:00:00Z'],
  ['Pacific/Auckland', '2026-03-14T11:00:00Z'],
  ['America/St_Johns', '2026-03-15T02:30:00Z'],
  ['Asia/Kathmandu', '2026-03-14T18:15:00Z'],
  ['Pacific/Kiritimati', '2026-03-14T10:00:00Z'],
  ['Pacific/Pago_Pago', '2026-03-15T11:00:00Z'],
])('in %s the 15th begins at %s, to the millisecond', async (timezone, midnight) => {
  const { user, plantId } = await userAt(timezone, '2026-03-20T12:00:00Z');
  const begin = Date.parse(midnight);
  await water(user, plantId, [
    new Date(begin - 1).toISOString(),
    new Date(begin).toISOString(),
    new Date(begin + 1).toISOString(),
  ]);
  expect(await days(user)).toEqual(['2026-03-14 1', '2026-03-15 2']);
});

test.each([
  ['Asia/Tokyo', '2026-03-20T20:00:00Z', '2026-03-21'],
  ['Asia/Tokyo', '0100-06-30T20:00:00Z', '0100-07-01'],
  ['Asia/Tokyo', '0999-12-31T16:00:00Z', '1000-01-01'],
  ['America/New_York', '1000-01-01T03:00:00Z', '0999-12-31'],
  ['America/New_York', '0000-01-05T03:00:00Z', '0000-01-04'],
])('in %s the moment %s is on %s', async (timezone, moment, day) => {
  const { user, plantId } = await userAt(timezone, '2026-03-20T12:00:00Z');
  await water(user, plantId, [moment]);
  const { careActivityByDay, wateringStreaks } = await insightsOf(user, `from=${day}&to=${day}`);
  expect(careActivityByDay).toEqual([{ date: day, type: 'watered', count: 1 }]);
  expect(wateringStreaks.lastWateredDate).toBe(day);
});

test('a day before the year 0 becomes the first day of that year', async () => {
  const { user, plantId } = await userAt('America/New_York', '2026-03-20T12:00:00Z');
  await water(user, plantId, ['0000-01-01T03:00:00Z']);
  expect((await insightsOf(user)).wateringStreaks.lastWateredDate).toBe('0000-01-01');
});

test('today and yesterday are those of the account’s time zone', async () => {
  // Half past midnight on the 16th in Auckland.
  const { user, plantId } = await userAt('Pacific/Auckland', '2026-03-15T11:30:00Z');
  await water(user, plantId, ['2026-03-14T11:30:00Z']);
  expect((await insightsOf(user)).wateringStreaks).toEqual({
    currentStreak: 1,
    longestStreak: 1,
    lastWateredDate: '2026-03-15',
  });
  setClock('2026-03-16T10:59:59.999Z');
  expect((await insightsOf(user)).wateringStreaks.currentStreak).toBe(1);
  setClock('2026-03-16T11:00:00.000Z');
  expect((await insightsOf(user)).wateringStreaks.currentStreak).toBe(0);
});

test('the last 365 days are those of the account’s calendar', async () => {
  const { user, plantId } = await userAt('Pacific/Auckland', '2026-03-15T11:30:00Z');
  // The first is 17 March 2025 in Auckland, the other a millisecond before it.
  await water(user, plantId, ['2025-03-16T11:00:00Z', '2025-03-16T10:59:59.999Z']);
  expect(await days(user)).toEqual(['2025-03-17 1']);
});

test('the weekday is that of the account’s calendar', async () => {
  const { user, plantId } = await userAt('Pacific/Auckland', '2026-03-20T00:00:00Z');
  await water(user, plantId, ['2026-03-15T23:00:00Z']); // A Sunday in UTC.
  expect((await insightsOf(user)).overview.mostActiveDay).toBe('Monday');
});

describe('when the clocks change', () => {
  test('a day of 23 hours is one day (St. John’s, 8 March 2026)', async () => {
    const { user, plantId } = await userAt('America/St_Johns', '2026-03-10T12:00:00Z');
    await water(user, plantId, [
      '2026-03-08T03:29:59.999Z',
      '2026-03-08T03:30:00.000Z',
      '2026-03-09T02:29:59.999Z',
      '2026-03-09T02:30:00.000Z',
    ]);
    expect(await days(user)).toEqual(['2026-03-07 1', '2026-03-08 2', '2026-03-09 1']);
  });

  test('a day of 25 hours is one day (Auckland, 5 April 2026)', async () => {
    const { user, plantId } = await userAt('Pacific/Auckland', '2026-04-07T12:00:00Z');
    await water(user, plantId, [
      '2026-04-04T10:59:59.999Z',
      '2026-04-04T11:00:00.000Z',
      '2026-04-05T11:59:59.999Z',
      '2026-04-05T12:00:00.000Z',
    ]);
    expect(await days(user)).toEqual(['2026-04-04 1', '2026-04-05 2', '2026-04-06 1']);
  });

  test('a streak of waterings at 23:30 is not broken', async () => {
    const { user, plantId } = await userAt('America/St_Johns', '2026-03-10T12:00:00Z');
    // 23:30 at UTC-3:30 on the 6th and 7th, at UTC-2:30 on the 8th and 9th.
    const evenings = ['2026-03-07T03:00:00Z', '2026-03-08T03:00:00Z', '2026-03-09T02:00:00Z'];
    await water(user, plantId, [...evenings, '2026-03-10T02:00:00Z']);
    expect((await insightsOf(user)).wateringStreaks).toEqual({
      currentStreak: 4,
      longestStreak: 4,
      lastWateredDate: '2026-03-09',
    });
  });
});

describe('when the account’s time zone changes', () => {
  const move = (user: TestUser, timezone: string) =>
    user.patch('/api/account', { timezone }).expect(200);

  test('a streak survives travel', async () => {
    // 12:00, 23:30 and 12:00 in Los Angeles.
    const { user, plantId } = await userAt('America/Los_Angeles', '2026-07-12T20:00:00Z');
    await water(user, plantId, [
      '2026-07-10T19:00:00Z',
      '2026-07-12T06:30:00Z',
      '2026-07-12T19:00:00Z',
    ]);
    await move(user, 'America/New_York');
    expect((await insightsOf(user)).wateringStreaks).toEqual({
      currentStreak: 3,
      longestStreak: 3,
      lastWateredDate: '2026-07-12',
    });
  });

  test('today changes, but no day of past events', async () => {
    const { user, plantId } = await userAt('UTC', '2026-03-15T12:00:00Z');
    await water(user, plantId, ['2026-03-14T12:00:00Z', '2026-03-15T01:00:00Z']);
    await user.event(plantId, {
      type: 'growth',
      growthAmount: 1,
      growthUnit: 'cm',
      occurredAt: '2026-03-14T12:00:00Z',
    });
    const before = await insightsOf(user);
    await move(user, 'Pacific/Auckland');
    expect(await insightsOf(user)).toEqual(before);
    // Two days after the last one, although only hours have passed.
    setClock('2026-03-16T11:00:00Z');
    expect((await insightsOf(user)).wateringStreaks.currentStreak).toBe(0);
    await move(user, 'UTC');
    expect((await insightsOf(user)).wateringStreaks.currentStreak).toBe(2);
  });

  test('an event that is changed or restored keeps its day unless it is moved', async () => {
    const { user, plantId } = await userAt('Pacific/Auckland', '2026-03-20T00:00:00Z');
    const at = '2026-03-14T12:00:00Z';
    const [logged] = await water(user, plantId, [at]);
    const path = `/api/events/${logged?.id ?? ''}`;
    await move(user, 'America/St_Johns');
    await user.patch(path, { text: 'Rainwater', occurredAt: at }).expect(200);
    expect(await days(user)).toEqual(['2026-03-15 1']);
    await user.delete(path).expect(200);
    expect(await days(user)).toEqual([]);
    await user.post(`${path}/restore`).expect(200);
    expect(await days(user)).toEqual(['2026-03-15 1']);
    await user.patch(path, { occurredAt: '2026-03-14T12:00:00.001Z' }).expect(200);
    expect(await days(user)).toEqual(['2026-03-14 1']);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    await user.delete(`/api/plants/${plantId}`).expect(200);
    expect((await insightsOf(user)).overview).toMatchObject({
      totalEvents: 0,
      mostActiveDay: null,
    });
  });

  test('events at the same moment each keep the day that they had', async () => {
    const { user, plantId } = await userAt('Pacific/Auckland', '2026-03-20T00:00:00Z');
    const grown = (growthAmount: number) => ({
      type: 'growth',
      growthAmount,
      occurredAt: '2026-03-14T12:00:00Z',
    });
    const later = await user.event(plantId, grown(1));
    await move(user, 'UTC');
    const earlier = await user.event(plantId, grown(2));
    const growth = async () => (await insightsOf(user)).growthTracking;
    expect(await growth()).toMatchObject([{ firstDate: '2026-03-14', lastDate: '2026-03-15' }]);
    const third = await user.event(plantId, grown(3));
    await user.delete(`/api/events/${third.id}`).expect(200);
    expect(await growth()).toMatchObject([{ firstDate: '2026-03-14', lastDate: '2026-03-15' }]);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    await user.delete(`/api/events/${later.id}`).expect(200);
    expect(await growth()).toMatchObject([{ firstDate: '2026-03-14', lastDate: '2026-03-14' }]);
    await user.delete(`/api/events/${earlier.id}`).expect(200);
    expect(await growth()).toEqual([]);
  });

  test('derived data stays correct after twenty changes among 20,000 events', async () => {
    const { user, plantId } = await userAt('UTC', '2026-03-20T00:00:00Z');
    await logMany(service.app, user.id, { [plantId]: 20_000 });
    const zones = ['Asia/Tokyo', 'Europe/Paris', 'UTC'];
    for (let change = 0; change < 20; change += 1) {
      await move(user, zones[change % zones.length] ?? 'UTC');
    }
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  });
});

test.each(['UTC', 'Pacific/Auckland', 'America/St_Johns'])(
  'insights in %s stay correct with the first and last moments that can be logged',
  async (timezone) => {
    const { user, plantId } = await userAt(timezone, '2026-03-20T00:00:00Z');
    const extremes = ['0000-01-01T00:00:00Z', '1000-01-01T00:00:00Z', '2026-03-21T00:00:00Z'];
    const logged = await water(user, plantId, extremes);
    await user.event(plantId, { type: 'growth', growthAmount: 1, occurredAt: extremes[0] });
    const { overview, wateringStreaks } = await insightsOf(user);
    expect(overview.totalEvents).toBe(4);
    expect(wateringStreaks).toMatchObject({ currentStreak: 0, longestStreak: 1 });
    await Promise.all(logged.map(({ id }) => user.delete(`/api/events/${id}`).expect(200)));
    expect((await insightsOf(user)).overview.totalEvents).toBe(1);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  },
);
