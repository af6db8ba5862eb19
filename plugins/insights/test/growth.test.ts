import { insightsOf } from '../../../test/support/insights';
import type { InsightsView } from '../schema';
import type { TestService, TestUser } from '../../../test/support/service';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
  plantId = (await user.plant({ name: 'Fern' })).id;
});
afterAll(() => service.close());

function grow(growthAmount: number, growthUnit = 'cm', day = 1, ofPlant = plantId) {
  const occurredAt = `2026-03-${String(day).padStart(2, '0')}T12:00:00Z`;
  return user.event(ofPlant, { type: 'growth', growthAmount, growthUnit, occurredAt });
}

async function growth(): Promise<InsightsView['growthTracking']> {
  return (await insightsOf(user)).growthTracking;
}

const FERN = { plantName: 'Fern', unit: 'cm', firstDate: '2026-03-01', lastDate: '2026-03-01' };

test('measurements add up per plant and unit, in the units that were logged', async () => {
  const other = await user.plant({ name: 'Oak' });
  await grow(1.5, 'cm', 3);
  await grow(2, 'cm', 1);
  await grow(1, 'in', 2);
  await grow(10, 'cm', 5, other.id);
  const tracking = await growth();
  expect(tracking).toHaveLength(3);
  expect(tracking).toEqual(
    expect.arrayContaining([
      { ...FERN, plantId, total: 3.5, measurements: 2, lastDate: '2026-03-03' },
      {
        ...FERN,
        plantId,
        unit: 'in',
        total: 1,
        measurements: 1,
        firstDate: '2026-03-02',
        lastDate: '2026-03-02',
      },
      {
        plantId: other.id,
        plantName: 'Oak',
        unit: 'cm',
        total: 10,
        measurements: 1,
        firstDate: '2026-03-05',
        lastDate: '2026-03-05',
      },
    ]),
  );
});

test('a growth event without an amount is not a measurement', async () => {
  await user.event(plantId, { type: 'growth' });
  await user.event(plantId, { type: 'growth', growthUnit: 'cm' });
  expect(await growth()).toEqual([]);
  expect((await insightsOf(user)).overview.totalEvents).toBe(2);
});

test('a measurement without a unit is not added to those with one', async () => {
  await grow(1);
  await user.event(plantId, { type: 'growth', growthAmount: 5 });
  const inCm = (await growth()).filter(({ unit }) => unit === 'cm');
  expect(inCm).toEqual([{ ...FERN, plantId, total: 1, measurements: 1 }]);
});

test.each([
  [[0.1, 0.2], 0.3],
  [[0.1, 0.7, 0.1, 0.1], 1],
  [[1e16, 1, 1], 10_000_000_000_000_002],
  [[1e300, 1e-300], 1e300],
  [[1.005, 1.005], 2.01],
])('%j add up to %d exactly', async (amounts, total) => {
  for (const amount of amounts) await grow(amount);
  expect(await growth()).toEqual([{ ...FERN, plantId, total, measurements: amounts.length }]);
});

test('amounts that are added and deleted leave no rounding error, even next to huge ones', async () => {
  await grow(0.1);
  const huge = await grow(1e300);
  const other = await grow(0.3, 'cm', 9);
  await user.delete(`/api/events/${huge.id}`).expect(200);
  await user.delete(`/api/events/${other.id}`).expect(200);
  expect(await growth()).toEqual([{ ...FERN, plantId, total: 0.1, measurements: 1 }]);
});

test('insights remain valid if a sum exceeds the range of a double', async () => {
  await grow(1.7e308);
  await grow(1.7e308);
  const [tracking] = await growth();
  expect(tracking).toMatchObject({ measurements: 2, total: Number.MAX_VALUE });
});

test('a corrected amount replaces the previous one', async () => {
  // The difference of the two is not exact in binary.
  const event = await grow(0.3);
  await grow(0.2);
  await user.patch(`/api/events/${event.id}`, { growthAmount: 0.1 }).expect(200);
  expect(await growth()).toEqual([{ ...FERN, plantId, total: 0.3, measurements: 2 }]);
});

test('a corrected unit moves the measurement to that unit', async () => {
  const event = await grow(2);
  await grow(1, 'cm', 4);
  await user.patch(`/api/events/${event.id}`, { growthUnit: 'in' }).expect(200);
  const tracking = await growth();
  expect(tracking).toHaveLength(2);
  expect(tracking).toEqual(
    expect.arrayContaining([
      { ...FERN, plantId, unit: 'in', total: 2, measurements: 1 },
      {
        ...FERN,
        plantId,
        total: 1,
        measurements: 1,
        firstDate: '2026-03-04',
        lastDate: '2026-03-04',
      },
    ]),
  );
});

test('an amount added later to a growth event makes it a measurement', async () => {
  const event = await user.event(plantId, { type: 'growth', occurredAt: '2026-03-01T12:00:00Z' });
  const change = { growthAmount: 4, growthUnit: 'cm' };
  await user.patch(`/api/events/${event.id}`, change).expect(200);
  expect(await growth()).toEqual([{ ...FERN, plantId, total: 4, measurements: 1 }]);
});

test('firstDate and lastDate follow measurements that are moved and deleted', async () => {
  const [first, , last] = [await grow(1, 'cm', 2), await grow(1, 'cm', 5), await grow(1, 'cm', 9)];
  const dates = async () =>
    (await growth()).map(({ firstDate, lastDate }) => [firstDate, lastDate]);
  expect(await dates()).toEqual([['2026-03-02', '2026-03-09']]);
  const occurredAt = '2026-03-20T12:00:00Z';
  await user.patch(`/api/events/${first.id}`, { occurredAt }).expect(200);
  expect(await dates()).toEqual([['2026-03-05', '2026-03-20']]);
  await user.delete(`/api/events/${first.id}`).expect(200);
  expect(await dates()).toEqual([['2026-03-05', '2026-03-09']]);
  await user.delete(`/api/events/${last.id}`).expect(200);
  expect(await dates()).toEqual([['2026-03-05', '2026-03-05']]);
});

test('deleting the last measurement leaves nothing', async () => {
  const event = await grow(1);
  await user.delete(`/api/events/${event.id}`).expect(200);
  expect(await growth()).toEqual([]);
});

test('growth shows the current name of the plant, until the plant is deleted', async () => {
  await grow(1);
  await user.patch(`/api/plants/${plantId}`, { name: 'Oak' }).expect(200);
  expect(await growth()).toEqual([
    { ...FERN, plantName: 'Oak', plantId, total: 1, measurements: 1 },
  ]);
  await user.delete(`/api/plants/${plantId}`).expect(200);
  expect(await growth()).toEqual([]);
});

test('logging and deleting 0.1 twenty times, five at a time, does not change the total', async () => {
  await grow(0.3);
  const before = await growth();
  let left = 20;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { id } = await grow(0.1);
      await user.delete(`/api/events/${id}`).expect(200);
    }
  };
  await Promise.all(Array.from({ length: 5 }, worker));
  expect(await growth()).toEqual(before);
  expect((await insightsOf(user)).overview.totalEvents).toBe(1);
});
