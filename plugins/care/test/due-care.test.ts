import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, faultsOf, expectError } from '../../../test/support/shapes';
import type { DueCare } from '../schema';
import { differencesOf, startService } from '../../../test/support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(resetClock);
afterAll(() => service.close());

/** A user in a time zone, at a moment. */
function userAt(now: string, timezone = 'UTC'): Promise<TestUser> {
  setClock(now);
  return service.user({ timezone, expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
}

async function due(user: TestUser, query = ''): Promise<DueCare> {
  return (await user.get(`/api/care${query}`).expect(200)).body as DueCare; // Compared by its values.
}

/** What is due in short: the name of the plant, type and days. */
async function inShort(user: TestUser, query = ''): Promise<string[]> {
  const { items } = await due(user, query);
  return items.map(
    ({ plantName, type, dueOn, daysOverdue }) => `${plantName} ${type} ${dueOn} ${daysOverdue}`,
  );
}

const ALWAYS = '?dueBy=9999-12-31';

test('a plant without care is due on the day it was added, for each frequency', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  const { id } = await user.plant({
    name: 'Fern',
    location: 'Hall',
    wateringFrequencyDays: 7,
    fertilizerFrequencyDays: 30,
  });
  await user.plant({ name: 'Cactus' });
  setClock('2026-03-12T12:00:00Z');
  const plant = { plantId: id, plantName: 'Fern', location: 'Hall', lastDone: null };
  const none = { snoozedUntil: null, scheduleId: null, label: null };
  const day = { dueOn: '2026-03-10', daysOverdue: 2, ...none };
  expect(await due(user)).toEqual({
    today: '2026-03-12',
    items: [
      { ...plant, type: 'watered', care: 'watered', everyDays: 7, ...day },
      { ...plant, type: 'fertilized', care: 'fertilized', everyDays: 30, ...day },
    ],
  });
});

test('care is due its number of days after the last of its type, and is listed earlier only on request', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  const days = { wateringFrequencyDays: 7, fertilizerFrequencyDays: 30 };
  const { id } = await user.plant({ name: 'Fern', ...days });
  await user.event(id, { occurredAt: '2026-03-10T09:00:00Z' });
  await user.event(id, { type: 'fertilized', occurredAt: '2026-03-01T09:00:00Z' });
  await user.event(id, { type: 'note', occurredAt: '2026-03-11T09:00:00Z' });
  expect(await inShort(user)).toEqual([]);
  expect(await inShort(user, '?dueBy=2026-03-17')).toEqual(['Fern watered 2026-03-17 -7']);
  expect(await inShort(user, '?dueBy=2026-03-31')).toEqual([
    'Fern watered 2026-03-17 -7',
    'Fern fertilized 2026-03-31 -21',
  ]);
  expect((await due(user, ALWAYS)).items).toMatchObject([
    { lastDone: '2026-03-10T09:00:00.000Z', location: null },
    { lastDone: '2026-03-01T09:00:00.000Z' },
  ]);
  setClock('2026-03-16T23:59:59.999Z');
  expect(await inShort(user)).toEqual([]);
  setClock('2026-03-17T00:00:00.000Z');
  expect(await inShort(user)).toEqual(['Fern watered 2026-03-17 0']);
  setClock('2026-03-20T00:00:00.000Z');
  expect(await inShort(user)).toEqual(['Fern watered 2026-03-17 3']);
});

test('due care is ordered by day and plant, and can be filtered by type and location', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  const add = (name: string, location: string) =>
    user.plant({ name, location, wateringFrequencyDays: 5, fertilizerFrequencyDays: 5 });
  const [first] = [await add('Zamia', 'Hall'), await add('Aloe', 'hall')];
  await user.event(first.id);
  await user.event(first.id, { type: 'fertilized', occurredAt: '2026-03-01T00:00:00Z' });
  expect(await inShort(user, ALWAYS)).toEqual([
    'Zamia fertilized 2026-03-06 4',
    'Aloe watered 2026-03-10 0',
    'Aloe fertilized 2026-03-10 0',
    'Zamia watered 2026-03-15 -5',
  ]);
  expect(await inShort(user, '?type=watered')).toEqual(['Aloe watered 2026-03-10 0']);
  expect(await inShort(user, '?location=Hall')).toEqual(['Zamia fertilized 2026-03-06 4']);
  expect(await inShort(user, '?location=Attic')).toEqual([]);
});

test('a changed or cleared frequency takes effect at once', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  const { id } = await user.plant({ name: 'Fern', wateringFrequencyDays: 5 });
  await user.event(id);
  await user.patch(`/api/plants/${id}`, { wateringFrequencyDays: 2 }).expect(200);
  expect(await inShort(user, ALWAYS)).toEqual(['Fern watered 2026-03-12 -2']);
  await user.patch(`/api/plants/${id}`, { wateringFrequencyDays: null }).expect(200);
  expect(await inShort(user, ALWAYS)).toEqual([]);
});

test('due days have four-digit years, whenever the event occurred', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  const { id } = await user.plant({
    name: 'Fern',
    wateringFrequencyDays: 365,
    fertilizerFrequencyDays: 1,
  });
  await user.event(id, { occurredAt: '2026-03-11T12:00:00Z' });
  await user.event(id, { type: 'fertilized', occurredAt: '0000-01-01T00:00:00Z' });
  const days = (await due(user, ALWAYS)).items.map(({ dueOn }) => dueOn);
  expect(days).toEqual(['0000-01-02', '2027-03-11']);
});

test.each(['dueBy=tomorrow', 'dueBy=2026-02-30', 'type=note', 'location='])(
  '%s is refused',
  async (query) => {
    const user = await userAt('2026-03-10T12:00:00Z');
    const answer = await user.get(`/api/care?${query}`).expect(400);
    expect(faultsOf(answer)).toEqual([query.split('=')[0]]);
  },
);

test('due care shows only plants of the account', async () => {
  const user = await userAt('2026-03-10T12:00:00Z');
  await user.plant({ wateringFrequencyDays: 5 });
  expect(await inShort(await userAt('2026-03-10T12:00:00Z'))).toEqual([]);
});

describe('days are those of the account’s time zone', () => {
  test('the day of the event, today and the day the plant was added', async () => {
    // Half past midnight on the 16th in Auckland.
    const user = await userAt('2026-03-15T11:30:00Z', 'Pacific/Auckland');
    const { id } = await user.plant({
      name: 'Fern',
      wateringFrequencyDays: 1,
      fertilizerFrequencyDays: 1,
    });
    // The 14th in Auckland.
    await user.event(id, { occurredAt: '2026-03-13T11:30:00Z' });
    expect(await due(user)).toMatchObject({ today: '2026-03-16' });
    expect(await inShort(user)).toEqual([
      'Fern watered 2026-03-15 1',
      'Fern fertilized 2026-03-16 0',
    ]);
    await user.patch('/api/account', { timezone: 'UTC' }).expect(200);
    expect(await due(user)).toMatchObject({ today: '2026-03-15' });
    // The event keeps the day that it was logged on.
    expect(await inShort(user)).toEqual([
      'Fern watered 2026-03-15 0',
      'Fern fertilized 2026-03-15 0',
    ]);
  });

  test('the day of care is that of the last event, whatever the days of earlier ones', async () => {
    const user = await userAt('2026-03-15T11:30:00Z', 'Pacific/Auckland');
    const { id } = await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
    const first = await user.event(id, { occurredAt: '2026-03-14T11:30:00Z' });
    await user.patch('/api/account', { timezone: 'Pacific/Pago_Pago' }).expect(200);
    const last = await user.event(id, { occurredAt: '2026-03-14T11:31:00Z' });
    expect(await inShort(user, ALWAYS)).toEqual(['Fern watered 2026-03-15 0']);
    const same = await user.event(id, { occurredAt: '2026-03-14T11:30:00Z' });
    await user.delete(`/api/events/${last.id}`).expect(200);
    expect(await inShort(user, ALWAYS)).toEqual(['Fern watered 2026-03-16 -1']);
    await user.delete(`/api/events/${first.id}`).expect(200);
    expect(await inShort(user, ALWAYS)).toEqual(['Fern watered 2026-03-15 0']);
    await user.delete(`/api/events/${same.id}`).expect(200);
    expect(await inShort(user, ALWAYS)).toEqual(['Fern watered 2026-03-15 0']);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  });

  test.each([
    ['Pacific/Auckland', 'Pacific/Pago_Pago'],
    ['Pacific/Pago_Pago', 'Pacific/Auckland'],
  ])('of care at one moment the later day counts (%s, then %s)', async (first, second) => {
    const user = await userAt('2026-03-15T11:30:00Z', first);
    const { id } = await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
    const occurredAt = '2026-03-14T11:30:00Z';
    await user.event(id, { occurredAt });
    await user.patch('/api/account', { timezone: second }).expect(200);
    await user.event(id, { occurredAt });
    const last = await user.event(id, { occurredAt: '2026-03-14T11:31:00Z' });
    await user.delete(`/api/events/${last.id}`).expect(200);
    expect((await due(user, ALWAYS)).items).toMatchObject([{ dueOn: '2026-03-16' }]);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
  });

  test.each([
    ['America/St_Johns', '2026-03-07T12:00:00Z', '2026-03-09T02:30:00Z'],
    ['Pacific/Auckland', '2026-04-04T12:00:00Z', '2026-04-05T12:00:00Z'],
  ])('and across clock changes (%s)', async (timezone, at, midnight) => {
    const user = await userAt(at, timezone);
    const { id } = await user.plant({ wateringFrequencyDays: timezone.startsWith('A') ? 2 : 1 });
    await user.event(id, { occurredAt: at });
    setClock(Date.parse(midnight) - 1);
    expect((await due(user)).items).toEqual([]);
    setClock(Date.parse(midnight));
    expect((await due(user)).items).toMatchObject([{ daysOverdue: 0 }]);
  });

  test('a response changes when the day ends, and not before', async () => {
    const user = await userAt('2026-03-15T10:59:59Z', 'Pacific/Auckland');
    await user.plant({ wateringFrequencyDays: 1 });
    const first = await user.get('/api/care').expect(200);
    const again = () => user.get('/api/care').set('If-None-Match', first.headers['etag'] ?? '');
    await again().expect(304);
    setClock('2026-03-15T11:00:00Z');
    const next = await again().expect(200);
    expect(bodyOf(next)).toMatchObject({ today: '2026-03-16', items: [{ daysOverdue: 1 }] });
  });
});

describe('the last feeding', () => {
  const log = (user: TestUser, id: string, occurredAt: string) =>
    user.event(id, { type: 'fertilized', occurredAt });
  const lastDone = async (user: TestUser) =>
    (await due(user, ALWAYS)).items.map((item) => item.lastDone);
  const at = (day: number) => `2026-03-${String(day).padStart(2, '0')}T12:00:00.000Z`;

  async function fed(): Promise<{ user: TestUser; id: string }> {
    const user = await userAt(at(20));
    return { user, id: (await user.plant({ fertilizerFrequencyDays: 30 })).id };
  }

  test('is the latest one, in whatever order feedings are logged, moved, deleted and restored', async () => {
    const { user, id } = await fed();
    const late = await log(user, id, at(9));
    const early = await log(user, id, at(3));
    await user.event(id, { occurredAt: at(15) });
    expect(await lastDone(user)).toEqual([at(9)]);
    await user.patch(`/api/events/${early.id}`, { occurredAt: at(12) }).expect(200);
    expect(await lastDone(user)).toEqual([at(12)]);
    await user.patch(`/api/events/${early.id}`, { occurredAt: at(1) }).expect(200);
    expect(await lastDone(user)).toEqual([at(9)]);
    await user.delete(`/api/events/${late.id}`).expect(200);
    expect(await lastDone(user)).toEqual([at(1)]);
    await user.post(`/api/events/${late.id}/restore`).expect(200);
    expect(await lastDone(user)).toEqual([at(9)]);
    await user.post('/api/events/delete', { eventIds: [early.id, late.id] }).expect(200);
    expect(await lastDone(user)).toEqual([null]);
    await user.post('/api/events', { plantIds: [id], type: 'fertilized', occurredAt: at(4) });
    expect(await lastDone(user)).toEqual([at(4)]);
    await user.delete(`/api/plants/${id}`).expect(200);
    expect(await lastDone(user)).toEqual([]);
  });

  test('is not shown in the plant, and neither are snoozes', async () => {
    const { user, id } = await fed();
    await log(user, id, at(9));
    const shown = JSON.stringify((await user.get(`/api/plants/${id}`).expect(200)).body);
    expect(shown).not.toMatch(/lastFertilized|[sS]nooze/);
  });

  test('cannot be set by adding or changing a plant', async () => {
    const { user, id } = await fed();
    for (const field of ['lastFertilized', 'wateringSnoozedUntil']) {
      const answer = await user.patch(`/api/plants/${id}`, { [field]: at(1) });
      expectError(answer, 400, 'validation_error', `^${field} is not allowed`);
    }
  });
});
