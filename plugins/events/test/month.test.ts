import { newestFirst } from '../../../test/support/paging';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { DAY_MS } from '../../../src/core/time';
import { startService } from '../../../test/support/program';

const START = Date.UTC(2026, 2, 1);
const END = Date.UTC(2026, 2, 31, 23, 59, 59, 999);

const MAX_MOMENT_MS = 8_640_000_000_000_000;

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
  user = await service.user({ tier: 'pro' });
  plantId = (await user.plant()).id;
});
afterAll(() => service.close());

function month(query: string, ofPlant = plantId, by = user) {
  return by.get(`/api/plants/${ofPlant}/events/month${query}`);
}

const range = (start: number | string, end: number | string): string =>
  `?monthStart=${start}&monthEnd=${end}`;

function log(ofPlant: string, time: number, type = 'note') {
  return user.event(ofPlant, { type, occurredAt: new Date(time).toISOString() });
}

test('both bounds are included, to the millisecond', async () => {
  const plant = await user.plant();
  const [, first, middle, last] = await Promise.all(
    [START - 1, START, START + DAY_MS, END, END + 1].map((time) => log(plant.id, time)),
  );
  const response = await month(range(START, END), plant.id).expect(200);
  expect(response.body).toEqual([last, middle, first]);
});

test('a range of one millisecond has the events of that millisecond', async () => {
  const plant = await user.plant();
  const event = await log(plant.id, START);
  expect((await month(range(START, START), plant.id).expect(200)).body).toEqual([event]);
  expect((await month(range(START + 1, START + 1), plant.id).expect(200)).body).toEqual([]);
});

test('lists all events of the range, newest first, then by id', async () => {
  const plant = await user.plant();
  const times = Array.from({ length: 130 }, (_, index) => START + (index % 65) * 60_000);
  const events = await Promise.all(times.map((time) => log(plant.id, time)));
  const response = await month(range(START, END), plant.id).expect(200);
  expect(response.body).toEqual(newestFirst(events));
});

test('deleted events and those of other plants are left out', async () => {
  const [plant, other] = await Promise.all([user.plant(), user.plant()]);
  const gone = await log(plant.id, START);
  await log(other.id, START);
  await user.delete(`/api/events/${gone.id}`).expect(200);
  expect((await month(range(START, END), plant.id).expect(200)).body).toEqual([]);
});

test('a range may lie before 1970', async () => {
  const plant = await user.plant();
  const event = await log(plant.id, -1);
  expect((await month(range(-DAY_MS, -1), plant.id).expect(200)).body).toEqual([event]);
});

test('a range has at most 366 days', async () => {
  await month(range(START, START + 366 * DAY_MS)).expect(200);
  const response = await month(range(START, START + 366 * DAY_MS + 1));
  expectError(response, 400, 'validation_error', /\bmonthEnd\b/);
});

test('a range that ends before it starts is refused', async () => {
  expectError(
    await month(range(START, START - 1)),
    400,
    'validation_error',
    /\bmonth(Start|End)\b/,
  );
});

test.each([
  ['', /\bmonthStart\b/],
  [`?monthEnd=${END}`, /\bmonthStart\b/],
  [`?monthStart=${START}`, /\bmonthEnd\b/],
  [range('', END), /\bmonthStart\b/],
  [range(START, ''), /\bmonthEnd\b/],
  [range('1.5', END), /\bmonthStart\b/],
  [range(START, `${END}.5`), /\bmonthEnd\b/],
  [range('1e12', END), /\bmonthStart\b/],
  [range('0x0', END), /\bmonthStart\b/],
  [range('2026-03-01', END), /\bmonthStart\b/],
  [range('2026-03-01T00:00:00Z', END), /\bmonthStart\b/],
  [range('now', END), /\bmonthStart\b/],
  [range('1e400', '1e400'), /\bmonthStart\b/],
  [range('99999999999999999999', '99999999999999999999'), /\bmonthStart\b/],
  [`${range(START, END)}&monthStart=${START}`, /\bmonthStart\b/],
  [`${range(START, END)}&monthEnd=${END}`, /\bmonthEnd\b/],
  [`${range(START, END)}&limit=5`, /\blimit\b/],
])('the query %j is refused', async (query, name) => {
  expectError(await month(query), 400, 'validation_error', name);
});

test.each(['1.5', '-0', 'x', ''])(
  'if monthStart is %j, the range is not a second fault',
  async (start) => {
    expect(faultsOf(await month(range(start, 2)))).toEqual(['monthStart']);
  },
);

test('bounds beyond the range of Date are one fault each, without a fault for the range', async () => {
  const { details } = bodyOf(await month(range(MAX_MOMENT_MS + 1, MAX_MOMENT_MS + 2)).expect(400));
  expect(details).toEqual(
    ['monthStart', 'monthEnd'].map((field) => ({
      field,
      message: `${field} must be less than or equal to ${MAX_MOMENT_MS}.`,
    })),
  );
});

test('integers beyond any date find no events, not those of 1970', async () => {
  const plant = await user.plant();
  await log(plant.id, 0);
  for (const time of [8_640_000_000_000_001, -8_640_000_000_000_001, Number.MAX_SAFE_INTEGER]) {
    const response = await month(range(time, time), plant.id);
    if (response.status === 200) expect(response.body).toEqual([]);
    else expectError(response, 400, 'validation_error', /\bmonth(Start|End)\b/);
  }
});

describe('the order of checks', () => {
  const WRONG = '?monthStart=x';
  const HERE = `/api/plants/${NOBODYS_ID}/events/month${WRONG}`;

  test('is the token first', async () => {
    expectError(await service.anonymous.get(HERE), 401, 'unauthorized');
  });

  test('then the scope', async () => {
    const scopeless = await service.user({ tier: 'free', scopes: ['plants:write'] });
    expectError(await scopeless.get(HERE), 403, 'insufficient_scope', /plants:read/);
  });

  test('then the tier', async () => {
    const free = await service.user({ tier: 'free' });
    expectError(await free.get(HERE), 403, 'feature_not_available');
  });

  test('then the parameters', async () => {
    expectError(await user.get(HERE), 400, 'validation_error', /\bmonthStart\b/);
  });

  test('then the plant', async () => {
    const response = await month(range(START, END), NOBODYS_ID);
    expectError(response, 404, 'plant_not_found');
  });
});

test('a free account has no monthly view, even of its own plant', async () => {
  const free = await service.user({ tier: 'free' });
  const plant = await free.plant();
  const response = await month(range(START, END), plant.id, free);
  expectError(response, 403, 'feature_not_available');
});

test('a plant of another user is not found', async () => {
  const other = await service.user();
  const plant = await other.plant();
  await other.event(plant.id, { occurredAt: new Date(START).toISOString() });
  const foreign = await month(range(START, END), plant.id);
  expectError(foreign, 404, 'plant_not_found');
  expect(foreign.body).toEqual((await month(range(START, END), NOBODYS_ID)).body);
  expect(listOf(await month(range(START, END), plant.id, other).expect(200))).toHaveLength(1);
});
