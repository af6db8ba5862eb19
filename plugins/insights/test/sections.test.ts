import { resetClock, setClock } from '../../../test/support/clock';
import { insightsOf, water } from '../../../test/support/insights';
import { bodyOf, faultsOf } from '../../../test/support/shapes';
import type { TestService, TestUser } from '../../../test/support/service';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock('2026-03-15T12:00:00Z');
  user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 3600 });
  plantId = (await user.plant()).id;
});
afterEach(resetClock);
afterAll(() => service.close());

async function ask(query: string): Promise<Record<string, unknown>> {
  return bodyOf(await user.get(`/api/insights?${query}`).expect(200));
}

async function days(query: string): Promise<string[]> {
  const { careActivityByDay } = await ask(query);
  return (careActivityByDay as { date: string }[]).map(({ date }) => date);
}

const SECTIONS = [
  'overview',
  'careActivityByDay',
  'wateringStreaks',
  'speciesDistribution',
  'growthTracking',
] as const;

test('all sections are returned by default, and each can be requested alone', async () => {
  await water(user, plantId, ['2026-03-14']);
  await user.event(plantId, { type: 'growth', growthAmount: 2, growthUnit: 'cm' });
  const all = await insightsOf(user);
  expect(Object.keys(all)).toEqual(SECTIONS);
  for (const section of SECTIONS) {
    expect(await ask(`sections=${section}`)).toEqual({ [section]: all[section] });
  }
});

test('sections are separated by commas, and a repeated one is returned once', async () => {
  const { overview, growthTracking } = await insightsOf(user);
  expect(await ask('sections=growthTracking,overview,overview')).toEqual({
    growthTracking,
    overview,
  });
});

test('from and to choose the days, both included, and reach back beyond a year', async () => {
  const logged = [
    '2019-12-31',
    '2020-01-01',
    '2020-06-15',
    '2025-03-15',
    '2025-03-16',
    '2026-03-15',
  ];
  await water(user, plantId, [...logged, '2026-03-16']);
  expect(await days('')).toEqual(['2025-03-16', '2026-03-15']);
  expect(await days('from=2020-01-01&to=2020-06-15')).toEqual(['2020-01-01', '2020-06-15']);
  expect(await days('from=2020-01-01&to=2020-01-01')).toEqual(['2020-01-01']);
  expect(await days('from=2019-12-31')).toEqual(logged);
  expect(await days('to=2026-03-16')).toEqual(['2026-03-15', '2026-03-16']);
  expect(await days('to=2020-06-15')).toEqual(['2019-12-31', '2020-01-01', '2020-06-15']);
  expect(await days('from=2026-03-17')).toEqual([]);
  expect(await days('from=0000-01-01&to=9999-12-31')).toEqual([...logged, '2026-03-16']);
});

test('the requested days affect no other section', async () => {
  await water(user, plantId, ['2019-12-31', '2026-03-15']);
  const { careActivityByDay, ...rest } = await insightsOf(user);
  expect(careActivityByDay).toHaveLength(1);
  expect(await ask('from=2019-01-01&to=2019-12-31')).toEqual({
    ...rest,
    careActivityByDay: [{ date: '2019-12-31', type: 'watered', count: 1 }],
  });
});

test('days of a deleted plant are not shown, even old ones', async () => {
  await water(user, plantId, ['2019-12-31']);
  await user.delete(`/api/plants/${plantId}`).expect(200);
  expect(await days('from=2019-01-01')).toEqual([]);
});

test.each([
  ['sections=', ['sections']],
  ['sections=streaks', ['sections']],
  ['sections=overview,streaks', ['sections']],
  ['sections=overview,', ['sections']],
  ['sections=Overview', ['sections']],
  ['sections=constructor', ['sections']],
  ['from=2026-03-02&to=2026-03-01', ['to']],
  ['from=2026-02-30', ['from']],
  ['from=x&to=2026-01-01', ['from']],
  ['from=2026-13-01&to=2026-01-01', ['from']],
  ['from=2026-3-1', ['from']],
  ['from=2026-03-01T00:00:00Z', ['from']],
  ['from=&to=today', ['from', 'to']],
  ['to=2026-13-01', ['to']],
  ['plantId=fern', ['plantId']],
  ['days=7', ['days']],
])('%s is refused', async (query, fields) => {
  expect(faultsOf(await user.get(`/api/insights?${query}`).expect(400))).toEqual(fields);
});
