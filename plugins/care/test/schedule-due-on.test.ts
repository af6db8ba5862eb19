import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
import { Client, record } from '../../../test/support/client';
import { bodyOf, listOf } from '../../../test/support/shapes';
import type { TestService } from '../../../test/support/service';
import { startService } from '../../../test/support/program';
import { ALWAYS, type CareUser, careUser } from './care-user';

let service: TestService;
let user: CareUser;
let fern: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await careUser(service, '2026-03-10T12:00:00Z');
  ({ id: fern } = await user.plant({ name: 'Fern', wateringFrequencyDays: 5 }));
});
afterEach(resetClock);
afterAll(() => service.close());

const path = () => `/api/plants/${fern}/schedules`;
const schedules = async () => listOf(await user.get(path()).expect(200));

/** The due day of each schedule, which is that of its item of due care, if it has one. */
async function dueDays(): Promise<unknown[]> {
  const { items } = await user.due(ALWAYS);
  const shown = await schedules();
  const dueOf = (id: unknown) => items.find(({ scheduleId }) => scheduleId === id)?.dueOn ?? null;
  expect(shown.map(({ dueOn }) => dueOn)).toEqual(shown.map(({ id }) => dueOf(id)));
  for (const { id, dueOn } of shown) {
    const same = bodyOf(await user.patch(`/api/schedules/${id}`, {}).expect(200));
    expect(same['dueOn']).toBe(dueOn);
  }
  return shown.map(({ dueOn }) => dueOn);
}

test('a schedule shows when it is due, whatever is done, undone, put off, paused or archived', async () => {
  const rule = { care: 'watered', everyDays: 7, startOn: '2026-03-12' };
  const made = bodyOf(await user.post(path(), rule).expect(201));
  expect(made['dueOn']).toBe('2026-03-12');
  const change = (fields: object) => user.patch(`/api/schedules/${String(made['id'])}`, fields);
  const care = (what: string, fields: object = {}) =>
    user.post(`/api/care/${what}`, { plantId: fern, scheduleId: made['id'], ...fields });

  const { id } = await user.event(fern);
  expect(await dueDays()).toEqual(['2026-03-17']);
  await user.delete(`/api/events/${id}`).expect(200);
  expect(await dueDays()).toEqual(['2026-03-12']);
  await care('skip').expect(200);
  expect(await dueDays()).toEqual(['2026-03-19']);
  await care('snooze', { until: '2026-03-11' }).expect(200);
  expect(await dueDays()).toEqual(['2026-03-11']);
  await care('snooze', { until: null }).expect(200);
  expect(await dueDays()).toEqual(['2026-03-12']);
  await care('done').expect(201);
  expect(await dueDays()).toEqual(['2026-03-17']);

  expect(bodyOf(await change({ active: false }).expect(200))['dueOn']).toBeNull();
  expect(await dueDays()).toEqual([null]);
  await change({ active: true, endOn: '2026-03-16' }).expect(200);
  expect(await dueDays()).toEqual([null]);
  await change({ everyDays: null, weekdays: ['mon'], endOn: null }).expect(200);
  expect(await dueDays()).toEqual(['2026-03-16']);
  await user.post(`/api/plants/${fern}/archive`, { reason: 'died' }).expect(200);
  expect(await dueDays()).toEqual([null]);
  await user.post(`/api/plants/${fern}/unarchive`).expect(200);
  expect(await dueDays()).toEqual(['2026-03-16']);
});

test('a schedule is not due after its last day in the zone of the account, and no 304 says otherwise', async () => {
  await user.patch('/api/account', { timezone: 'Pacific/Auckland' }).expect(200);
  const { id } = await user.schedule(fern, { everyDays: 3, endOn: '2026-03-12' });
  await user.schedule(fern, { care: 'other', label: 'Mist', everyDays: 3 });
  expect(await dueDays()).toEqual(['2026-03-11', '2026-03-11']);
  const { headers } = await user.get(path()).expect(200);
  const again = () => user.get(path()).set('If-None-Match', headers['etag'] ?? '');
  setClock('2026-03-12T10:59:59Z');
  await again().expect(304);
  setClock('2026-03-12T11:00:00Z');
  await again().expect(200);
  expect(await dueDays()).toEqual([null, '2026-03-11']);
  await user.patch(`/api/schedules/${id}`, { endOn: '2026-03-13' }).expect(200);
  expect(await dueDays()).toEqual(['2026-03-11', '2026-03-11']);
});

test('changes and exports have no due day, and an export imports again', async () => {
  await user.schedule(fern, { everyDays: 3 });
  const { schedules: changed } = await changesSince(new Client(service.url, user.token));
  expect(changed).toHaveLength(1);
  expect(changed[0]).not.toHaveProperty('dueOn');
  const exported = record((await user.get('/api/export?format=json').expect(200)).body);
  const other = await service.user();
  await other.post('/api/import', exported).expect(201);
});

test('the due day cannot be set', async () => {
  const { id } = await user.schedule(fern, { everyDays: 3 });
  await user.patch(`/api/schedules/${id}`, { dueOn: '2026-03-11' }).expect(400);
});
