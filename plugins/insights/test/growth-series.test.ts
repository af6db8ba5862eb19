import { resetClock, setClock } from '../../../test/support/clock';
import { insightsOf } from '../../../test/support/insights';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';

const YEARS = 10 * 365 * 24 * 3600;

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock('2026-11-15T12:00:00Z');
  user = await service.user({ expiresInSeconds: YEARS });
  plantId = (await user.plant({ name: 'Fern' })).id;
});
afterEach(resetClock);
afterAll(() => service.close());

function grow(day: string, growthAmount: number, growthUnit = 'cm', by = user, of = plantId) {
  const occurredAt = day.includes('T') ? day : `${day}T12:00:00Z`;
  return by.event(of, { type: 'growth', growthAmount, growthUnit, occurredAt });
}

async function series(by = user): Promise<unknown> {
  return (await insightsOf(by, 'sections=growthSeries')).growthSeries;
}

const cm = (month: string, total: number, of = plantId, plantName = 'Fern') => ({
  plantId: of,
  plantName,
  unit: 'cm',
  month,
  total,
});

test('growthSeries is returned only on request', async () => {
  await grow('2026-11-01', 2);
  expect(await insightsOf(user)).not.toHaveProperty('growthSeries');
  expect(await insightsOf(user, 'sections=growthTracking')).not.toHaveProperty('growthSeries');
  expect(await insightsOf(user, 'sections=growthSeries')).toEqual({
    growthSeries: [cm('2026-11', 2)],
  });
  const both = await insightsOf(user, 'sections=growthSeries,overview');
  expect(Object.keys(both).sort()).toEqual(['growthSeries', 'overview']);
});

test('growth adds up exactly by plant, unit and month, over twelve months', async () => {
  const oak = await user.plant({ name: 'Oak' });
  await grow('2026-11-02', 1, 'cm', user, oak.id);
  for (const amount of [0.1, 0.2, 0.1]) await grow('2026-11-01', amount);
  await grow('2026-10-31', 3);
  await grow('2026-11-01', 1, 'in');
  await grow('2025-12-01', 5);
  await grow('2025-11-30', 7);
  await user.event(plantId, { type: 'note', text: 'It grew' });
  expect(await series()).toEqual([
    cm('2025-12', 5),
    cm('2026-10', 3),
    cm('2026-11', 0.4),
    { ...cm('2026-11', 1), unit: 'in' },
    cm('2026-11', 1, oak.id, 'Oak'),
  ]);
});

test('months follow the calendar days of the person', async () => {
  const far = await service.user({ timezone: 'Pacific/Kiritimati', expiresInSeconds: YEARS });
  const { id } = await far.plant({ name: 'Fern' });
  await grow('2025-11-30T10:00:00Z', 1, 'cm', far, id);
  await grow('2025-11-30T09:59:59Z', 2, 'cm', far, id);
  expect(await series(far)).toEqual([cm('2025-12', 1, id)]);
  setClock('2026-11-30T10:00:00Z');
  expect(await series(far)).toEqual([]);
});

test('growth by month follows deleted and restored events, and includes archived plants', async () => {
  const { id } = await grow('2026-11-01', 2);
  await user.post(`/api/plants/${plantId}/archive`, { reason: 'sold' }).expect(200);
  expect(await series()).toEqual([cm('2026-11', 2)]);
  await user.delete(`/api/events/${id}`).expect(200);
  expect(await series()).toEqual([]);
  await user.post(`/api/events/${id}/restore`).expect(200);
  expect(await series()).toEqual([cm('2026-11', 2)]);
  await user.delete(`/api/plants/${plantId}`).expect(200);
  expect(await series()).toEqual([]);
});

test('growth of one plant is requested by plantId, and the other sections stay', async () => {
  const oak = await user.plant({ name: 'Oak' });
  await grow('2026-11-01', 2);
  await grow('2026-11-02', 1, 'cm', user, oak.id);
  const sections = 'sections=overview,growthTracking,growthSeries';
  const all = await insightsOf(user, sections);
  for (const id of [oak.id, oak.id.toUpperCase()]) {
    expect(await insightsOf(user, `${sections}&plantId=${id}`)).toEqual({
      overview: all.overview,
      growthTracking: [expect.objectContaining({ plantName: 'Oak', total: 1 })],
      growthSeries: [cm('2026-11', 1, oak.id, 'Oak')],
    });
  }
  const stranger = await (await service.user()).plant();
  expect(await insightsOf(user, `${sections}&plantId=${stranger.id}`)).toMatchObject({
    growthTracking: [],
    growthSeries: [],
  });
});
