import { resetClock, setClock } from '../../../test/support/clock';
import { record, records } from '../../../test/support/client';
import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { type Assistant, assistant, callTool } from '../../../test/mcp/support';

let service: TestService;
let me: Assistant;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock('2026-03-10T09:30:00Z');
  me = await assistant(service, { tier: 'pro', timezone: 'Pacific/Auckland' });
});
afterEach(resetClock);
afterAll(() => service.close());

const call = (plants: unknown, options?: object) =>
  callTool(me, 'import_plants', { plants, ...options });
const get = async (path: string) => (await me.user.get(path).expect(200)).body as unknown;
const plantsOf = async () => records(await get('/api/plants'));
const eventsOf = async () => records(record(await get('/api/events'))['items']);

test('plants are made with their schedules and last care, on the days that were given', async () => {
  // In Auckland it is the evening of the 10th.
  const mist = { care: 'other', label: 'Mist', everyDays: 3, lastDone: '2026-03-08' };
  const aloe = {
    name: 'Aloe',
    lastWatered: '2026-03-10',
    lastFertilized: '2024-02-29',
    schedules: [
      mist,
      { care: 'watered', weekdays: ['sun'] },
      { care: 'repotted', weekdays: ['-1sun'] },
      { care: 'soil_change', monthDays: [30, 31] },
    ],
  };
  const { structuredContent } = await call([
    { name: 'Zamia', location: 'Hall', toxic: true },
    aloe,
  ]);
  const result = record(structuredContent);
  expect(result).toMatchObject({ plants: 2, events: 3 });
  const plants = await plantsOf();
  expect(plants).toMatchObject([
    { name: 'Zamia', location: 'Hall', toxic: true },
    { name: 'Aloe' },
  ]);
  expect(result['items']).toEqual(plants.map(({ id, name }) => ({ id, name })));
  const id = String(plants[1]?.['id']);
  const schedules = records(await get(`/api/plants/${id}/schedules`));
  expect(schedules).toMatchObject([
    { label: 'Mist', dueOn: '2026-03-11' },
    { weekdays: ['sun'], dueOn: '2026-03-15' },
    { weekdays: ['-1sun'], dueOn: '2026-03-29' },
    { monthDays: [30, 31], dueOn: '2026-03-30' },
  ]);
  expect(await eventsOf()).toMatchObject([
    { plantId: id, type: 'watered', occurredAt: '2026-03-09T23:00:00.000Z' },
    { plantId: id, type: 'note', text: 'Mist', scheduleId: schedules[0]?.['id'] },
    { plantId: id, type: 'fertilized', occurredAt: '2024-02-28T23:00:00.000Z' },
  ]);
  const days = record(await get('/api/insights?sections=careActivityByDay&from=2024-01-01'));
  expect(records(days['careActivityByDay']).map(({ date }) => date)).toEqual([
    '2024-02-29',
    '2026-03-08',
    '2026-03-10',
  ]);
});

test('care of today is not later than now', async () => {
  setClock('2026-03-09T20:00:00Z');
  await call([{ name: 'Aloe', lastWatered: '2026-03-10' }]);
  expect(await plantsOf()).toMatchObject([{ lastWatered: '2026-03-09T20:00:00.000Z' }]);
});

test('every fault is named with its plant and field, and nothing is added', async () => {
  const many = Array.from({ length: 51 }, () => ({ name: 'Fern' }));
  for (const [plants, ...fields] of [
    [many, 'plants '],
    [[], 'plants '],
    [[{ name: 'Fern' }, { species: 'Oak' }], 'plants[1].name'],
    [[{ name: 'Fern', lastRepotted: '2026-01-01' }], 'plants[0].lastRepotted'],
    [[{ name: 'Fern', lastWatered: 'Sunday' }], 'plants[0].lastWatered'],
    [
      [
        { name: 'Fern', lastWatered: '2026-03-11' },
        { name: 'Oak', schedules: [{ care: 'other', everyDays: 3, lastDone: '2027-01-01' }] },
      ],
      'plants[0].lastWatered',
      'plants[1].schedules[0].label',
      'plants[1].schedules[0].lastDone',
    ],
    [
      [
        { name: 'Fern', schedules: [{ care: 'watered' }] },
        { name: 'Oak', schedules: [{ care: 'watered', everyDays: 3, weekdays: ['sun'] }] },
        { name: 'Yew', schedules: [{ care: 'watered', everyDays: 3 }, { care: 'repotted' }] },
      ],
      'plants[0].schedules[0].everyDays, weekdays or monthDays is required',
      'plants[1].schedules[0].everyDays, weekdays and monthDays exclude each other',
      'plants[2].schedules[1].everyDays, weekdays or monthDays is required',
    ],
  ] as const) {
    const { isError, content } = await call(plants);
    expect(isError).toBe(true);
    for (const field of fields) expect(content[0]?.text).toContain(field);
  }
  expect(await plantsOf()).toEqual([]);
});

test('over the limit of the tier nothing is added', async () => {
  me = await assistant(service, { tier: 'free' });
  const plants = Array.from({ length: 26 }, (_, index) => ({ name: `Fern ${index}` }));
  const { isError, content } = await call(plants);
  expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining('plant_limit')]);
  expect(await plantsOf()).toEqual([]);
});

test('it needs both scopes', async () => {
  me = await assistant(service, { scopes: ['plants:read', 'plants:write'] });
  const { isError, content } = await call([{ name: 'Fern' }]);
  expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining('events:write')]);
});
