import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { differencesOf, startService } from '../../../test/support/program';
import { ALWAYS, type CareUser, careUser } from './care-user';

let service: TestService;
let user: CareUser;
let fern: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await careUser(service, '2026-03-10T12:00:00Z');
  ({ id: fern } = await user.plant({ name: 'Fern', location: 'Hall' }));
});
afterEach(async () => {
  resetClock();
  // Whatever was done, the last care of schedules is what the events say.
  expect(await differencesOf(service.app, user.id)).toEqual([]);
});
afterAll(() => service.close());

const change = (id: string, fields: object) =>
  user.patch(`/api/schedules/${id}`, fields).expect(200);

test('each schedule has an item with its care', async () => {
  const { id } = await user.schedule(fern, { care: 'other', label: 'Mist', everyDays: 2 });
  const { id: repot } = await user.schedule(fern, { care: 'repotted', everyDays: 700 });
  const common = { plantId: fern, plantName: 'Fern', location: 'Hall', lastDone: null };
  const today = { dueOn: '2026-03-10', daysOverdue: 0, snoozedUntil: null };
  expect(await user.due()).toEqual({
    today: '2026-03-10',
    items: [
      {
        ...common,
        ...today,
        type: 'note',
        care: 'other',
        label: 'Mist',
        everyDays: 2,
        scheduleId: id,
      },
      {
        ...common,
        ...today,
        type: 'repotted',
        care: 'repotted',
        label: null,
        everyDays: 700,
        scheduleId: repot,
      },
    ],
  });
});

test('an active schedule replaces the frequency of the same care', async () => {
  await user.patch(`/api/plants/${fern}`, { wateringFrequencyDays: 5, fertilizerFrequencyDays: 9 });
  await user.event(fern);
  expect(await user.days(ALWAYS)).toEqual([
    'Fern fertilized 2026-03-10',
    'Fern watered 2026-03-15',
  ]);
  const { id } = await user.schedule(fern, { everyDays: 2 });
  await user.schedule(fern, { care: 'other', label: 'watered', everyDays: 40 });
  const byFrequency = ['Fern watered 2026-03-15'];
  const bySchedule = ['Fern watered 2026-03-12'];
  const watering = async () => await user.days(`${ALWAYS}&type=watered`);
  expect(await watering()).toEqual(bySchedule);
  await change(id, { active: false });
  expect(await watering()).toEqual(byFrequency);
  await change(id, { active: true, endOn: '2026-03-13' });
  expect(await watering()).toEqual(bySchedule);
  setClock('2026-03-13T23:59:59Z');
  expect(await watering()).toEqual(bySchedule);
  setClock('2026-03-14T00:00:00Z');
  expect(await watering()).toEqual(byFrequency);
  await change(id, { endOn: null });
  await user.delete(`/api/schedules/${id}`).expect(200);
  expect(await watering()).toEqual(byFrequency);
});

test('due care of each kind can be listed alone', async () => {
  const cares = ['watered', 'fertilized', 'repotted', 'soil_change', 'other'];
  for (const care of cares) {
    const label = care === 'other' ? { label: 'Mist' } : {};
    await user.schedule(fern, { care, everyDays: 30, ...label });
  }
  for (const care of cares) {
    const items = (await user.due(`${ALWAYS}&type=${care}`)).items;
    expect(items.map((item) => item.care)).toEqual([care]);
    expect((await user.due(`?to=2026-03-10&type=${care}`)).items).toEqual(items);
  }
});

test('a schedule without days left has no item, and still replaces the frequency', async () => {
  await user.patch(`/api/plants/${fern}`, { wateringFrequencyDays: 5 });
  await user.schedule(fern, { everyDays: 7, endOn: '2026-03-12' });
  await user.event(fern);
  expect(await user.days(ALWAYS)).toEqual([]);
});

describe('what counts as care', () => {
  test('events of the schedule, and events of its type without a schedule', async () => {
    const { id: water } = await user.schedule(fern, { everyDays: 10 });
    const { id: rain } = await user.schedule(fern, { everyDays: 30 });
    const { id: mist } = await user.schedule(fern, { care: 'other', label: 'Mist', everyDays: 5 });
    const days = async () => {
      const { items } = await user.due(ALWAYS);
      return [water, rain, mist].map((id) => items.find((item) => item.scheduleId === id)?.dueOn);
    };
    await user.event(fern, { type: 'note', occurredAt: '2026-03-02T12:00:00Z' });
    await user.event(fern, { type: 'fertilized', occurredAt: '2026-03-02T12:00:00Z' });
    expect(await days()).toEqual(['2026-03-10', '2026-03-10', '2026-03-10']);
    await user.event(fern, { occurredAt: '2026-03-03T12:00:00Z' });
    expect(await days()).toEqual(['2026-03-13', '2026-04-02', '2026-03-10']);
    await user.event(fern, { scheduleId: water, occurredAt: '2026-03-05T12:00:00Z' });
    expect(await days()).toEqual(['2026-03-15', '2026-04-02', '2026-03-10']);
    const noted = { type: 'note', scheduleId: mist, occurredAt: '2026-03-06T12:00:00Z' };
    await user.event(fern, noted);
    await user.event(fern, { ...noted, scheduleId: rain });
    expect(await days()).toEqual(['2026-03-15', '2026-04-05', '2026-03-11']);
  });

  test('only events with a schedule have the field', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 10 });
    expect(await user.event(fern)).not.toHaveProperty('scheduleId');
    const event = await user.event(fern, { scheduleId, occurredAt: '2026-03-02T12:00:00Z' });
    expect(event).toMatchObject({ scheduleId });
    const { items } = bodyOf(await user.get(`/api/plants/${fern}/events`).expect(200));
    expect(items).toMatchObject([{ type: 'watered' }, { id: event.id, scheduleId }]);
    const moved = await user.patch(`/api/events/${event.id}`, { scheduleId: null }).expect(200);
    expect(moved.body).not.toHaveProperty('scheduleId');
    const back = await user.patch(`/api/events/${event.id}`, { scheduleId }).expect(200);
    expect(back.body).toMatchObject({ scheduleId });
  });

  test('care that was logged before the schedule was created counts', async () => {
    await user.event(fern, { occurredAt: '2026-03-08T12:00:00Z' });
    await user.schedule(fern, { everyDays: 10 });
    expect(await user.days(ALWAYS)).toEqual(['Fern watered 2026-03-18']);
  });

  test('changes when events are moved, deleted, restored or assigned to another schedule', async () => {
    const { id } = await user.schedule(fern, { everyDays: 10 });
    const one = await user.event(fern, { scheduleId: id, occurredAt: '2026-03-01T12:00:00Z' });
    const two = await user.event(fern, { occurredAt: '2026-03-04T12:00:00Z' });
    const dueOn = async () => (await user.due(ALWAYS)).items[0]?.dueOn;
    expect(await dueOn()).toBe('2026-03-14');
    await user.delete(`/api/events/${two.id}`).expect(200);
    expect(await dueOn()).toBe('2026-03-11');
    await user.patch(`/api/events/${one.id}`, { occurredAt: '2026-03-02T12:00:00Z' }).expect(200);
    expect(await dueOn()).toBe('2026-03-12');
    await user.post(`/api/events/${two.id}/restore`).expect(200);
    expect(await dueOn()).toBe('2026-03-14');
    await user.post('/api/events/delete', { eventIds: [one.id, two.id] }).expect(200);
    expect(await dueOn()).toBe('2026-03-10');
    await user.post('/api/events', { plantIds: [fern], occurredAt: '2026-03-09T12:00:00Z' });
    expect(await dueOn()).toBe('2026-03-19');
  });

  test('an event cannot name a schedule of another plant', async () => {
    const { id: palm } = await user.plant();
    const { id: scheduleId } = await user.schedule(palm, { everyDays: 10 });
    const event = await user.event(fern);
    for (const id of [scheduleId, NOBODYS_ID]) {
      const refused = [
        await user.post(`/api/plants/${fern}/events`, { scheduleId: id }),
        await user.post('/api/events', { plantIds: [palm, fern], scheduleId: id }),
        await user.patch(`/api/events/${event.id}`, { scheduleId: id }),
      ];
      for (const answer of refused) expectError(answer, 400, 'schedule_not_found', /^scheduleId /);
    }
    expect(await user.days()).toHaveLength(1);
  });

  test('events of a deleted schedule, deleted ones included, count by their type', async () => {
    const { id } = await user.schedule(fern, { everyDays: 3 });
    await user.schedule(fern, { everyDays: 10 });
    const event = await user.event(fern, { scheduleId: id, occurredAt: '2026-03-09T12:00:00Z' });
    const gone = await user.event(fern, { scheduleId: id, occurredAt: '2026-03-10T12:00:00Z' });
    await user.delete(`/api/events/${gone.id}`).expect(200);
    expect(await user.days(ALWAYS)).toEqual(['Fern watered 2026-03-10', 'Fern watered 2026-03-12']);
    await user.delete(`/api/schedules/${id}`).expect(200);
    expect(await user.days(ALWAYS)).toEqual(['Fern watered 2026-03-19']);
    const { items } = bodyOf(await user.get(`/api/plants/${fern}/events`).expect(200));
    expect(items).toMatchObject([{ id: event.id, updatedAt: event['updatedAt'] }]);
    expect(JSON.stringify(items)).not.toContain('scheduleId');
    const restored = await user.post(`/api/events/${gone.id}/restore`).expect(200);
    expect(restored.body).not.toHaveProperty('scheduleId');
    expect(await user.days(ALWAYS)).toEqual(['Fern watered 2026-03-20']);
  });
});

describe('days', () => {
  test('everyDays is that of the season or, with weekdays, the days to the next occurrence', async () => {
    const seasons = [{ from: '03-20', to: '04-10', everyDays: 2 }];
    await user.schedule(fern, { everyDays: 14, seasons });
    await user.schedule(fern, { care: 'fertilized', weekdays: ['mon', 'wed'], months: [4] });
    await user.event(fern);
    expect((await user.due(ALWAYS)).items).toMatchObject([
      { care: 'watered', dueOn: '2026-03-20', everyDays: 2 },
      { care: 'fertilized', dueOn: '2026-04-01', everyDays: 5 },
    ]);
  });

  test('a day that a time zone skips is not lost', async () => {
    const apia = await careUser(service, '2011-12-29T12:00:00Z', 'Pacific/Apia');
    const { id } = await apia.plant({ name: 'Palm' });
    await apia.schedule(id, { everyDays: 2 });
    await apia.event(id, { occurredAt: '2011-12-28T12:00:00Z' });
    expect(await apia.due(ALWAYS)).toMatchObject({
      today: '2011-12-29',
      items: [{ dueOn: '2011-12-30', daysOverdue: -1 }],
    });
    setClock('2011-12-30T12:00:00Z');
    expect(await apia.due()).toMatchObject({
      today: '2011-12-31',
      items: [{ dueOn: '2011-12-30', daysOverdue: 1 }],
    });
  });

  test('today is the current day in the account’s time zone', async () => {
    const kiribati = await careUser(service, '2026-03-10T09:59:00Z', 'Pacific/Kiritimati');
    const { id } = await kiribati.plant({ name: 'Palm' });
    await kiribati.schedule(id, { weekdays: ['wed'] });
    expect(await kiribati.days()).toEqual([]);
    setClock('2026-03-10T10:00:00Z');
    expect(await kiribati.days()).toEqual(['Palm watered 2026-03-11']);
  });
});

describe('with to, later occurrences are listed', () => {
  test('as if overdue care were done today and the rest on its day, by day and plant', async () => {
    const { id: moss } = await user.plant({ name: 'Moss', wateringFrequencyDays: 4 });
    await user.schedule(fern, { everyDays: 3, startOn: '2026-03-01' });
    await user.event(fern, { occurredAt: '2026-03-01T12:00:00Z' });
    await user.event(moss, { occurredAt: '2026-03-09T12:00:00Z' });
    const { items, ...rest } = await user.due('?to=2026-03-17');
    expect(rest).toEqual({ today: '2026-03-10', through: '2026-03-17' });
    expect(
      items.map(({ plantName, dueOn, daysOverdue }) => `${plantName} ${dueOn} ${daysOverdue}`),
    ).toEqual([
      'Fern 2026-03-04 6',
      'Fern 2026-03-13 -3',
      'Moss 2026-03-13 -3',
      'Fern 2026-03-16 -6',
      'Moss 2026-03-17 -7',
    ]);
    expect(await user.days('?to=2026-03-13&type=watered&location=Hall')).toEqual([
      'Fern watered 2026-03-04',
      'Fern watered 2026-03-13',
    ]);
    expect(await user.due('?to=2026-03-05')).toMatchObject({
      items: [{ dueOn: '2026-03-04' }],
      through: '2026-03-05',
    });
  });

  test('with a snooze applied to the first one only', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 3 });
    const snooze = { plantId: fern, scheduleId, until: '2026-03-12' };
    await user.post('/api/care/snooze', snooze).expect(200);
    expect((await user.due('?to=2026-03-15')).items).toMatchObject([
      { dueOn: '2026-03-12', snoozedUntil: '2026-03-12' },
      { dueOn: '2026-03-15', snoozedUntil: null },
    ]);
  });

  test('up to 366 days ahead, and not together with dueBy', async () => {
    await user.get('/api/care?to=2027-03-11').expect(200);
    for (const query of ['to=2027-03-12', 'to=2026-03-11&dueBy=2026-03-11', 'to=2026-02-30']) {
      expect(faultsOf(await user.get(`/api/care?${query}`).expect(400))).toEqual(['to']);
    }
  });

  test('in complete days of at most 5,000 items, up to the day in through', async () => {
    for (let count = 0; count < 20; count += 1) {
      await user.schedule(fern, { care: 'other', label: `Task ${count}`, everyDays: 1 });
    }
    const { items, through } = await user.due('?to=2027-03-11');
    expect([items.length, through]).toEqual([5000, '2026-11-14']);
    expect(items.at(-1)?.dueOn).toBe(through);
    const rest = await user.due('?to=2026-11-14');
    expect([rest.items.length, rest.through]).toEqual([5000, '2026-11-14']);
  });
});
