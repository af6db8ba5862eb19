import { Client } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { faultsOf } from '../../../test/support/shapes';
import { MAX_ACTS } from '../acts';
import { ALWAYS, type CareUser, careUser } from './care-user';

let service: TestService;
let user: CareUser;
let fern: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await careUser(service, '2026-03-09T12:00:00Z');
  ({ id: fern } = await user.plant({ name: 'Fern', location: 'Hall', wateringFrequencyDays: 7 }));
  await user.event(fern, { occurredAt: '2026-03-02T08:00:00Z' });
  // It is due on the 9th; the phones are back on the 13th.
  setClock('2026-03-13T12:00:00Z');
});
afterEach(resetClock);
afterAll(() => service.close());

const watering = () => ({ plantId: fern, type: 'watered' });
const skip = (body: object) => user.post('/api/care/skip', { ...watering(), ...body });
const snooze = (body: object) => user.post('/api/care/snooze', { ...watering(), ...body });
const dueOn = async () => (await user.due(ALWAYS)).items.map((item) => item.dueOn);

test('a skip counts from the day of its moment, or from the occurrence that was due then', async () => {
  const late = await skip({ at: '2026-03-10T08:00:00Z' }).expect(200);
  expect(late.body).toMatchObject({ dueOn: '2026-03-17' });
  await skip({ at: '2026-03-11T08:00:00Z' }).expect(200);
  expect(await dueOn()).toEqual(['2026-03-24']);
});

test('care of a later moment ends a skip, and care that is logged late of an earlier one does not', async () => {
  await skip({ at: '2026-03-10T08:00:00Z', dueOn: '2026-03-09' }).expect(200);
  await user.event(fern, { occurredAt: '2026-03-01T08:00:00Z' });
  expect(await dueOn()).toEqual(['2026-03-17']);
  const { id } = await user.event(fern, { occurredAt: '2026-03-10T08:00:01Z' });
  expect(await dueOn()).toEqual(['2026-03-17']);
  await user.patch(`/api/events/${id}`, { occurredAt: '2026-03-11T08:00:00Z' }).expect(200);
  expect(await dueOn()).toEqual(['2026-03-18']);
  await user.delete(`/api/events/${id}`).expect(200);
  expect(await dueOn()).toEqual(['2026-03-17']);
});

test('a second skip of the same occurrence has no effect, whichever arrives first', async () => {
  for (const hour of ['10', '08']) {
    const meant = { at: `2026-03-10T${hour}:00:00Z`, dueOn: '2026-03-09' };
    const answer = await skip(meant).expect(200);
    expect(answer.body).toMatchObject({ plantId: fern, dueOn: '2026-03-17' });
  }
  const snoozed = await snooze({ dueOn: '2026-03-09', until: '2026-03-20' }).expect(200);
  expect(snoozed.body).toMatchObject({ dueOn: '2026-03-17', snoozedUntil: null });
  const back = await snooze({ dueOn: '2026-03-09', until: null }).expect(200);
  expect(back.body).toMatchObject({ dueOn: '2026-03-17' });
});

test('what was without effect counts once the care that it came after is undone', async () => {
  const { id } = await user.event(fern, { occurredAt: '2026-03-11T08:00:00Z' });
  await skip({ at: '2026-03-10T08:00:00Z' }).expect(200);
  await skip({ at: '2026-03-12T08:00:00Z', dueOn: '2026-03-17' }).expect(200);
  expect(await dueOn()).toEqual(['2026-03-18']);
  await user.delete(`/api/events/${id}`).expect(200);
  expect(await dueOn()).toEqual(['2026-03-24']);
});

test('of several plants, the answer shows those that mean another day as they are', async () => {
  const moss = await user.plant({ name: 'Moss', location: 'Hall', wateringFrequencyDays: 2 });
  const body = { location: 'Hall', type: 'watered', dueOn: '2026-03-09' };
  const answer = await user.post('/api/care/skip', body).expect(200);
  expect(answer.body).toMatchObject({
    items: [
      { plantId: moss.id, dueOn: '2026-03-13' },
      { plantId: fern, dueOn: '2026-03-20' },
    ],
  });
});

test('a location that was skipped includes a plant that was brought forward before', async () => {
  const { id } = await user.event(fern, { occurredAt: '2026-03-10T08:00:00Z' });
  const ofAll = { location: 'Hall', type: 'watered', at: '2026-03-12T08:00:00Z' };
  const answer = await user.post('/api/care/skip', ofAll).expect(200);
  expect(answer.body).toEqual({ items: [] });
  await snooze({ at: '2026-03-11T08:00:00Z', until: '2026-03-12' }).expect(200);
  expect(await dueOn()).toEqual(['2026-03-19']);
  await user.delete(`/api/events/${id}`).expect(200);
  expect(await dueOn()).toEqual(['2026-03-19']);
});

test('until may be any day from that of at on; a past one is simply due', async () => {
  const past = await snooze({ at: '2026-03-10T08:00:00Z', until: '2026-03-11' }).expect(200);
  expect(past.body).toMatchObject({ dueOn: '2026-03-11', daysOverdue: 2 });
  await snooze({ at: '2026-03-10T23:59:00Z', until: '2026-03-10' }).expect(200);
  const early = await snooze({ at: '2026-03-10T08:00:00Z', until: '2026-03-09' }).expect(400);
  expect(faultsOf(early)).toEqual(['until']);
  const auckland = { at: '2026-03-10T12:00:00Z', until: '2026-03-10' };
  await user.patch('/api/account', { timezone: 'Pacific/Auckland' }).expect(200);
  expect(faultsOf(await snooze(auckland).expect(400))).toEqual(['until']);
});

test('at may be 24 hours ahead, and dueOn is a day; done takes one too, and always logs', async () => {
  await skip({ at: '2026-03-14T12:00:00Z' }).expect(200);
  expect(faultsOf(await skip({ at: '2026-03-14T12:00:01Z' }).expect(400))).toEqual(['at']);
  expect(faultsOf(await skip({ at: '2026-03-12' }).expect(400))).toEqual(['at']);
  expect(faultsOf(await snooze({ dueOn: 'today', until: null }).expect(400))).toEqual(['dueOn']);
  const done = await user.post('/api/care/done', { ...watering(), dueOn: '2020-01-01' });
  expect(done.body).toMatchObject({ items: [{ plantId: fern }] });
});

test('a decision counts by the rule and the zone of its moment', async () => {
  await skip({ at: '2026-03-10T08:00:00Z', dueOn: '2026-03-09' }).expect(200);
  await user.patch(`/api/plants/${fern}`, { wateringFrequencyDays: 10 }).expect(200);
  expect(await dueOn()).toEqual(['2026-03-20']);
  const { id: scheduleId } = await user.schedule(fern, {
    care: 'other',
    label: 'Mist',
    everyDays: 3,
    startOn: '2026-03-08',
  });
  await user.patch(`/api/schedules/${scheduleId}`, { startOn: '2026-03-11' }).expect(200);
  await user.patch('/api/account', { timezone: 'Pacific/Kiritimati' }).expect(200);
  const body = { plantId: fern, scheduleId, at: '2026-03-12T09:00:00Z', dueOn: '2026-03-08' };
  const answer = await user.post('/api/care/skip', body).expect(200);
  await user.patch('/api/account', { timezone: 'UTC' }).expect(200);
  expect(answer.body).toMatchObject({ dueOn: '2026-03-15' });
  expect(await dueOn()).toEqual(['2026-03-15', '2026-03-20']);
});

test('of what is decided about one care, only the latest acts are kept, and they go on to count', async () => {
  const first = Date.parse('2026-03-10T08:00:00Z');
  let day = '2026-03-09';
  for (let count = 0; count < MAX_ACTS + 3; count += 1) {
    const answer = await skip({ at: new Date(first + count).toISOString(), dueOn: day });
    day = (answer.body as { dueOn: string }).dueOn; // An item.
  }
  expect(await dueOn()).toEqual([day]);
  const plants = service.app.database.connection.collection('plants');
  const stored = await plants.findOne({ userId: user.id });
  expect(stored?.['wateringActs']).toHaveLength(MAX_ACTS);
});

test('copies get plants whose care was put off, and none that stay as they are', async () => {
  const client = new Client(service.url, user.token);
  const { nextCursor } = await changesSince(client);
  const moss = await user.plant({ name: 'Moss', location: 'Hall', wateringFrequencyDays: 2 });
  await user.event(moss.id);
  const { nextCursor: since } = await changesSince(client, nextCursor);
  await user.post('/api/care/skip', { location: 'Hall', type: 'watered' }).expect(200);
  const { plants, snoozes } = await changesSince(client, since);
  expect(plants).toMatchObject([{ id: fern }]);
  expect(snoozes).toEqual([
    { plantId: fern, type: 'watered', until: null, skippedOn: '2026-03-13' },
  ]);
  client.close();
});

describe('what 1.2.0 stored stands as it did', () => {
  const store = (fields: object, collection = 'plants') =>
    service.app.database.connection
      .collection(collection)
      .updateOne({ userId: user.id }, { $set: fields });

  test('a snooze until care is done after it was set', async () => {
    const wateringSnoozedAt = new Date('2026-03-10T08:00:00Z');
    await store({
      wateringSnoozedUntil: '2026-03-15',
      wateringSkippedOn: null,
      wateringSnoozedAt,
    });
    await skip({ at: '2026-03-10T07:00:00Z' }).expect(200);
    expect(await dueOn()).toEqual(['2026-03-15']);
    await user.event(fern, { occurredAt: '2026-03-10T08:00:01Z' });
    expect(await dueOn()).toEqual(['2026-03-17']);
  });

  test('a skip until care on a later day, or until it is taken back', async () => {
    await store({
      wateringSnoozedUntil: null,
      wateringSkippedOn: '2026-03-11',
      wateringSnoozedAt: null,
    });
    expect(await dueOn()).toEqual(['2026-03-18']);
    const { id } = await user.event(fern, { occurredAt: '2026-03-10T08:00:00Z' });
    expect(await dueOn()).toEqual(['2026-03-18']);
    await snooze({ until: null }).expect(200);
    expect(await dueOn()).toEqual(['2026-03-17']);
    await user.delete(`/api/events/${id}`).expect(200);
    expect(await dueOn()).toEqual(['2026-03-09']);
  });

  test('a skip and a snooze of a schedule, until later care, which may be undone', async () => {
    const { id: scheduleId } = await user.schedule(fern, {
      weekdays: ['mon'],
      startOn: '2026-03-09',
    });
    const water = (day: string) => {
      return user.event(fern, { occurredAt: `${day}T11:00:00Z`, scheduleId });
    };
    await store({ snoozedUntil: null, skippedOn: '2026-03-16', snoozedAt: null }, 'schedules');
    await water('2026-03-12');
    expect(await dueOn()).toEqual(['2026-03-23']);
    const snoozedAt = new Date('2026-03-13T10:00:00Z');
    await store({ snoozedUntil: '2026-03-20', skippedOn: null, snoozedAt }, 'schedules');
    const { id } = await water('2026-03-13');
    expect(await dueOn()).toEqual(['2026-03-16']);
    await user.delete(`/api/events/${id}`).expect(200);
    expect(await dueOn()).toEqual(['2026-03-20']);
  });
});
