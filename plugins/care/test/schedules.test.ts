import { resetClock, setClock } from '../../../test/support/clock';
import { Client } from '../../../test/support/client';
import { changesSince } from '../../../test/support/copy';
import { countThrough } from '../../../test/support/quotas';
import type { TestService, TestUser } from '../../../test/support/service';
import {
  anyId,
  anyInstant,
  bodyOf,
  expectError,
  faultsOf,
  listOf,
  NOBODYS_ID,
} from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  ({ id: plantId } = await user.plant());
});
afterEach(resetClock);
afterAll(() => service.close());

const create = (fields: object, plant = plantId) =>
  user.post(`/api/plants/${plant}/schedules`, { care: 'watered', ...fields });
const created = async (fields: object = { everyDays: 7 }) =>
  bodyOf(await create(fields).expect(201));
const change = (id: unknown, fields: object) => user.patch(`/api/schedules/${String(id)}`, fields);
const listed = async () => listOf(await user.get(`/api/plants/${plantId}/schedules`).expect(200));

test('a schedule is stored as sent and listed oldest first', async () => {
  const fields = {
    care: 'other',
    label: 'Mist',
    everyDays: 3,
    months: [4, 5, 12],
    seasons: [{ from: '11-01', to: '02-29', everyDays: 0 }],
    startOn: '2026-04-01',
    endOn: '2030-12-31',
    active: false,
  };
  const first = await created(fields);
  expect(first).toEqual({
    id: anyId,
    plantId,
    weekdays: null,
    monthDays: null,
    createdAt: anyInstant,
    updatedAt: anyInstant,
    dueOn: null,
    ...fields,
  });
  const second = await created({ weekdays: ['sat', 'mon'] });
  expect(await listed()).toEqual([first, second]);
});

test('omitted fields are null, and a schedule starts today in the account’s time zone', async () => {
  setClock('2026-03-15T11:30:00Z');
  await user.patch('/api/account', { timezone: 'Pacific/Auckland' }).expect(200);
  expect(await created()).toMatchObject({
    label: null,
    weekdays: null,
    monthDays: null,
    months: null,
    seasons: [],
    endOn: null,
    startOn: '2026-03-16',
    active: true,
  });
});

test('PATCH changes and clears the given fields only', async () => {
  const schedule = await created({ everyDays: 7, months: [4], endOn: '2030-01-01' });
  const given = { everyDays: null, weekdays: ['tue'], months: null, startOn: '2026-05-01' };
  const changed = bodyOf(await change(schedule['id'], given).expect(200));
  const moved = { updatedAt: anyInstant, dueOn: '2026-05-05' };
  expect(changed).toEqual({ ...schedule, ...given, ...moved });
  const same = bodyOf(await change(schedule['id'], {}).expect(200));
  expect(same).toEqual(changed);
});

test('a schedule changes from any kind of rule to another, in one step', async () => {
  setClock('2026-03-15T11:30:00Z');
  const { id } = await created({ everyDays: 7 });
  const none = { everyDays: null, weekdays: null, monthDays: null };
  for (const [kind, dueOn] of [
    [{ monthDays: [30, 31, -1] }, '2026-03-30'],
    [{ weekdays: ['-1sat', '1sun'] }, '2026-03-28'],
    [{ monthDays: [15] }, '2026-03-15'],
    [{ everyDays: 9 }, '2026-03-15'],
    [{ weekdays: ['4sun', 'thu'] }, '2026-03-19'],
  ] as const) {
    const changed = bodyOf(await change(id, { ...none, ...kind }).expect(200));
    expect(changed).toMatchObject({ ...none, ...kind, dueOn });
    expect(await listed()).toEqual([changed]);
  }
  expect(faultsOf(await change(id, none).expect(400))).toEqual(['everyDays']);
});

test.each([
  [{ weekdays: ['5mon'] }, /^weekdays\[0\] must be a weekday such as mon, 1mon to 4mon of/],
  [{ monthDays: [0] }, /^monthDays\[0\] must be a day from 1 to 31, or -1 for the last\.$/],
  [{ monthDays: [32] }, /^monthDays\[0\] must be a day from 1 to 31, or -1 for the last\.$/],
  [
    { weekdays: ['mon'], monthDays: [1] },
    /^everyDays, weekdays and monthDays exclude each other\.$/,
  ],
  [{}, /^everyDays, weekdays or monthDays is required\.$/],
])('a fault of a rule is said in a sentence: %j', async (fields, sentence) => {
  expectError(await create(fields), 400, 'validation_error', sentence);
});

test('of two changes to the same state the second is refused', async () => {
  const { id } = await created();
  const { headers } = await change(id, { everyDays: 8 }).expect(200);
  const tagged = () => change(id, { everyDays: 9 }).set('If-Match', headers['etag'] ?? '');
  await tagged().expect(200);
  await change(id, { active: false }).expect(200);
  expectError(await tagged(), 412, 'precondition_failed');
});

test.each<[field: string, fields: object]>([
  ['care', { care: 'pruned', everyDays: 7 }],
  ['everyDays', { everyDays: 0 }],
  ['everyDays', { everyDays: 3651 }],
  ['everyDays', {}],
  ['weekdays', { everyDays: 7, weekdays: ['mon'] }],
  ['weekdays', { weekdays: [] }],
  ['weekdays', { weekdays: ['mon', 'mon'] }],
  ...['Monday', '5mon', '0mon', '-2mon', '1 mon', '01mon', 'MON', '', '-1', 1].map(
    (weekday): [string, object] => ['weekdays', { weekdays: ['tue', weekday] }],
  ),
  ['weekdays', { weekdays: ['-1mon', '-1mon'] }],
  ...[0, -2, 32, 1.5, '1', null, -1e9].map((day): [string, object] => [
    'monthDays',
    { monthDays: [15, day] },
  ]),
  ['monthDays', { monthDays: [] }],
  ['monthDays', { monthDays: 15 }],
  ['monthDays', { monthDays: [-1, 3, -1] }],
  ['monthDays', { monthDays: Array.from({ length: 40 }, (_, day) => day + 1) }],
  ['monthDays', { everyDays: 7, monthDays: [1] }],
  ['monthDays', { weekdays: ['1mon'], monthDays: [1] }],
  ['monthDays', { everyDays: 7, weekdays: ['mon'], monthDays: [1] }],
  ['months', { everyDays: 7, months: [] }],
  ['months', { everyDays: 7, months: [13] }],
  ['label', { care: 'other', everyDays: 7 }],
  ['label', { care: 'other', everyDays: 7, label: '' }],
  ['label', { care: 'other', everyDays: 7, label: 'x'.repeat(61) }],
  ['label', { everyDays: 7, label: 'Mist' }],
  ['startOn', { everyDays: 7, startOn: '2026-02-30' }],
  ['endOn', { everyDays: 7, startOn: '2026-05-02', endOn: '2026-05-01' }],
  ['endOn', { weekdays: ['fri'], startOn: '2026-05-02', endOn: '2026-05-07' }],
  ['seasons', { everyDays: 7, seasons: [{ from: '02-30', to: '03-01', everyDays: 1 }] }],
  ['seasons', { everyDays: 7, seasons: [{ from: '02-01', to: '3-1', everyDays: 1 }] }],
  ['seasons', { everyDays: 7, seasons: [{ from: '02-01', to: '03-01' }] }],
  ['seasons', { everyDays: 7, seasons: [{ from: '03-01', to: '02-28', everyDays: 0 }] }],
  [
    'seasons',
    {
      everyDays: 7,
      seasons: [
        { from: '11-01', to: '02-28', everyDays: 14 },
        { from: '02-29', to: '03-31', everyDays: 3 },
      ],
    },
  ],
  [
    'seasons',
    {
      everyDays: 7,
      seasons: Array.from({ length: 13 }, (_, day) => ({
        from: `01-${10 + day}`,
        to: `01-${10 + day}`,
        everyDays: 1,
      })),
    },
  ],
])('a fault in %s is reported by field: %j', async (field, fields) => {
  const answer = await create(fields).expect(400);
  expect(faultsOf(answer)).toEqual([field]);
  expect(await listed()).toEqual([]);
});

test('a change that would make the schedule invalid is refused', async () => {
  const { id } = await created({ everyDays: 7, months: [3] });
  for (const [field, fields] of [
    ['weekdays', { weekdays: ['mon'] }],
    ['monthDays', { monthDays: [1] }],
    ['everyDays', { everyDays: null }],
    ['label', { label: 'Mist' }],
    ['seasons', { seasons: [{ from: '02-01', to: '04-01', everyDays: 0 }] }],
    ['care', { care: 'fertilized' }],
    ['plantId', { plantId }],
    ['startOn', { startOn: null }],
  ] as const) {
    expect(faultsOf(await change(id, fields).expect(400))).toEqual([field]);
  }
  const { id: mist } = await created({ care: 'other', label: 'Mist', everyDays: 2 });
  expect(faultsOf(await change(mist, { label: null }).expect(400))).toEqual(['label']);
});

test('a plant has at most twenty, even if many are added at once', async () => {
  for (let count = 0; count < 18; count += 1) await created();
  const limit = 'schedule_limit_reached';
  expect(await countThrough(() => create({ everyDays: 7 }), 5, limit)).toBe(2);
  const [first] = await listed();
  await user.delete(`/api/schedules/${String(first?.['id'])}`).expect(200);
  await created();
});

test('schedules of other accounts, and unknown ids, are not found', async () => {
  const { id } = await created();
  const other = await service.user();
  expectError(await other.get(`/api/plants/${plantId}/schedules`), 404, 'plant_not_found');
  expectError(await other.patch(`/api/schedules/${String(id)}`, {}), 404, 'schedule_not_found');
  expectError(await other.delete(`/api/schedules/${String(id)}`), 404, 'schedule_not_found');
  expectError(await create({ everyDays: 7 }, NOBODYS_ID), 404, 'plant_not_found');
  expect(await listed()).toHaveLength(1);
});

test('deleting a plant deletes its own schedules only', async () => {
  const { id: gone } = await created();
  const { id: other } = await user.plant();
  await create({ everyDays: 3 }, other).expect(201);
  await user.delete(`/api/plants/${plantId}`).expect(200);
  expectError(await change(gone, {}), 404, 'schedule_not_found');
  expect(listOf(await user.get(`/api/plants/${other}/schedules`).expect(200))).toHaveLength(1);
});

test('copies get new, changed and deleted schedules', async () => {
  const client = new Client(service.url, user.token);
  const { dueOn: _, ...first } = await created();
  const { schedules, nextCursor } = await changesSince(client);
  expect(schedules).toEqual([first]);
  const { dueOn: __, ...second } = await created({ weekdays: ['sun'] });
  await user.delete(`/api/schedules/${String(first['id'])}`).expect(200);
  expect(await changesSince(client, nextCursor)).toMatchObject({
    schedules: [second],
    plants: [],
    deleted: [{ kind: 'schedule', id: first['id'] }],
  });
  client.close();
});

test('deleting a schedule removes its snooze from copies', async () => {
  const client = new Client(service.url, user.token);
  const { id: scheduleId } = await created();
  const until = new Date(Date.now() + 5 * 24 * 3600 * 1000).toISOString().slice(0, 10);
  await user.post('/api/care/snooze', { plantId, scheduleId, until }).expect(200);
  const { snoozes, nextCursor } = await changesSince(client);
  expect(snoozes).toMatchObject([{ plantId, scheduleId, until }]);
  await user.delete(`/api/schedules/${String(scheduleId)}`).expect(200);
  expect(await changesSince(client, nextCursor)).toMatchObject({
    plants: [{ id: plantId }],
    snoozes: [],
    deleted: [{ id: scheduleId }],
  });
  client.close();
});
