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
  user = await service.user();
});
afterEach(resetClock);
afterAll(() => service.close());

const dayBefore = (days: number): string => new Date(NOON - days * DAY_MS).toISOString();

describe('mostActiveDay', () => {
  async function afterEventsOn(days: readonly string[]): Promise<string | null> {
    const plant = await user.plant();
    await Promise.all(
      days.map((day, index) =>
        user.event(plant.id, {
          occurredAt: `${day}T12:00:00Z`,
          type: index % 2 ? 'note' : 'watered',
        }),
      ),
    );
    return (await insightsOf(user)).overview.mostActiveDay;
  }

  test.each([
    ['2026-03-09', 'Monday'],
    ['2026-03-10', 'Tuesday'],
    ['2026-03-11', 'Wednesday'],
    ['2026-03-12', 'Thursday'],
    ['2026-03-13', 'Friday'],
    ['2026-03-14', 'Saturday'],
    ['2026-03-15', 'Sunday'],
  ])('for events on %s only is %s', async (day, weekday) => {
    expect(await afterEventsOn([day])).toBe(weekday);
  });

  test('counts events of all types and all weeks', async () => {
    expect(
      await afterEventsOn(['2026-03-09', '2026-03-09', '2026-03-12', '2026-03-05', '2019-05-02']),
    ).toBe('Thursday');
  });

  test.each([
    [['2026-03-15', '2026-03-09'], 'Monday'],
    [['2026-03-08', '2026-03-14'], 'Saturday'],
    [['2026-03-13', '2026-03-15', '2026-03-10'], 'Tuesday'],
  ])('for a tie between %j is the earlier weekday, Monday first', async (days, weekday) => {
    expect(await afterEventsOn(days)).toBe(weekday);
  });
});

describe('careActivityByDay', () => {
  test('covers the last 365 days including today, and no others', async () => {
    const plant = await user.plant();
    await Promise.all(
      [0, 1, 364, 365, 366, 1000, -1].map((days) =>
        user.event(plant.id, { occurredAt: dayBefore(days) }),
      ),
    );
    const { careActivityByDay, overview } = await insightsOf(user);
    expect(careActivityByDay.map(({ date }) => date)).toEqual([
      '2025-03-16',
      '2026-03-14',
      '2026-03-15',
    ]);
    expect(overview.totalEvents).toBe(7);
  });

  test('counts by day and type, ordered by day and then type, without days of no events', async () => {
    const plant = await user.plant();
    const logged: [type: string, daysAgo: number][] = [
      ['watered', 3],
      ['soil_change', 3],
      ['note', 3],
      ['journal', 3],
      ['growth', 3],
      ['fertilized', 3],
      ['repotted', 3],
      ['watered', 3],
      ['watered', 20],
      ['note', 1],
      ['note', 1],
      ['note', 1],
    ];
    const other = await user.plant();
    await Promise.all(
      logged.map(([type, days], index) =>
        user.event(index % 2 ? plant.id : other.id, { type, occurredAt: dayBefore(days) }),
      ),
    );
    expect((await insightsOf(user)).careActivityByDay).toEqual([
      { date: '2026-02-23', type: 'watered', count: 1 },
      { date: '2026-03-12', type: 'fertilized', count: 1 },
      { date: '2026-03-12', type: 'growth', count: 1 },
      { date: '2026-03-12', type: 'journal', count: 1 },
      { date: '2026-03-12', type: 'note', count: 1 },
      { date: '2026-03-12', type: 'repotted', count: 1 },
      { date: '2026-03-12', type: 'soil_change', count: 1 },
      { date: '2026-03-12', type: 'watered', count: 2 },
      { date: '2026-03-14', type: 'note', count: 3 },
    ]);
  });

  test('follows an event that is moved to another day', async () => {
    const plant = await user.plant();
    const { id } = await user.event(plant.id, { occurredAt: dayBefore(2) });
    await user.patch(`/api/events/${id}`, { occurredAt: dayBefore(33) }).expect(200);
    await user.patch(`/api/events/${id}`, { text: 'x' }).expect(200);
    expect((await insightsOf(user)).careActivityByDay).toEqual([
      { date: '2026-02-10', type: 'watered', count: 1 },
    ]);
  });
});
