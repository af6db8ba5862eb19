import { randomUUID } from 'node:crypto';

import { Client } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince, Copy } from '../../../test/support/copy';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  setClock('2026-03-10T12:00:00Z');
  user = await service.user({ expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  ({ id: plantId } = await user.plant({ wateringFrequencyDays: 3, fertilizerFrequencyDays: 30 }));
});
afterEach(resetClock);
afterAll(() => service.close());

const snooze = (until: string | null, type = 'watered', id = plantId) =>
  user.post('/api/care/snooze', { plantId: id, type, until });

async function itemsDue(): Promise<{ type: string; dueOn: string }[]> {
  const body: unknown = (await user.get('/api/care?dueBy=9999-12-31').expect(200)).body;
  return (body as { items: { type: string; dueOn: string }[] }).items; // Its values are compared.
}

/** The days on which watering and fertilizing are due. */
async function dueOn(): Promise<Record<string, unknown>> {
  return Object.fromEntries((await itemsDue()).map((item) => [item.type, item.dueOn]));
}

/** Those on which care of a type is due, of all plants. */
async function everyDueOn(type: string): Promise<unknown[]> {
  return (await itemsDue()).flatMap((item) => (item.type === type ? [item.dueOn] : []));
}

test('snoozed care is due on exactly that day, and the item is returned', async () => {
  const answer = await snooze('2026-03-15').expect(200);
  expect(answer.body).toEqual({
    plantId,
    plantName: 'Boston fern',
    location: null,
    type: 'watered',
    everyDays: 3,
    lastDone: null,
    dueOn: '2026-03-15',
    daysOverdue: -5,
    snoozedUntil: '2026-03-15',
    scheduleId: null,
    care: 'watered',
    label: null,
  });
  expect(await dueOn()).toEqual({ watered: '2026-03-15', fertilized: '2026-03-10' });
  setClock('2026-03-16T12:00:00Z');
  const body: unknown = (await user.get('/api/care').expect(200)).body;
  expect(body).toMatchObject({
    items: [
      { type: 'fertilized', snoozedUntil: null },
      { type: 'watered', dueOn: '2026-03-15', daysOverdue: 1, snoozedUntil: '2026-03-15' },
    ],
  });
});

test('a snooze can bring care forward, and the latest one counts', async () => {
  await user.event(plantId);
  await snooze('2026-03-11').expect(200);
  expect(await dueOn()).toMatchObject({ watered: '2026-03-11' });
  await snooze('2026-03-20').expect(200);
  await snooze('2026-03-18').expect(200);
  expect(await dueOn()).toMatchObject({ watered: '2026-03-18' });
});

test('null removes the snooze of this type only, or changes nothing if there is none', async () => {
  await snooze('2026-05-01', 'fertilized').expect(200);
  await snooze('2026-03-20').expect(200);
  const answer = await snooze(null).expect(200);
  expect(answer.body).toMatchObject({ dueOn: '2026-03-10', snoozedUntil: null });
  await snooze(null).expect(200);
  expect(await dueOn()).toEqual({ watered: '2026-03-10', fertilized: '2026-05-01' });
});

describe('a snooze stands until care is done after it was set', () => {
  const LATER = '2026-03-11T12:00:00Z';
  const SNOOZED = { watered: '2026-03-20', fertilized: '2026-05-01' };

  beforeEach(async () => {
    await snooze('2026-03-20').expect(200);
    await snooze('2026-05-01', 'fertilized').expect(200);
    setClock(LATER);
  });

  test('and stands again if that care is deleted, until it is restored', async () => {
    const event = await user.event(plantId);
    expect(await dueOn()).toEqual({ ...SNOOZED, watered: '2026-03-14' });
    await user.delete(`/api/events/${event.id}`).expect(200);
    expect(await dueOn()).toEqual(SNOOZED);
    await user.post(`/api/events/${event.id}/restore`).expect(200);
    expect(await dueOn()).toEqual({ ...SNOOZED, watered: '2026-03-14' });
  });

  test('and stands again if that care is moved to before it', async () => {
    const event = await user.event(plantId);
    const move = (occurredAt: string) =>
      user.patch(`/api/events/${event.id}`, { occurredAt }).expect(200);
    await move('2026-03-09T12:00:00Z');
    expect(await dueOn()).toEqual(SNOOZED);
    // The very moment at which it was set.
    await move('2026-03-10T12:00:00Z');
    expect(await dueOn()).toEqual(SNOOZED);
    await move('2026-03-10T12:00:00.001Z');
    expect(await dueOn()).toEqual({ ...SNOOZED, watered: '2026-03-13' });
  });

  test('whatever earlier care and other events are logged', async () => {
    for (let year = 2020; year <= 2025; year += 1) {
      await user.event(plantId, { occurredAt: `${year}-06-01T12:00:00Z` });
    }
    const body = { plantIds: [plantId], occurredAt: '2026-03-10T09:00:00Z' };
    await user.post('/api/events', { ...body, type: 'fertilized' }).expect(201);
    await user.event(plantId, { type: 'note' });
    expect(await dueOn()).toEqual(SNOOZED);
  });

  test('even if it is logged in bulk', async () => {
    const plants = [plantId];
    for (let count = 0; count < 4; count += 1) {
      const { id } = await user.plant({ wateringFrequencyDays: 3 });
      plants.push(id);
      await snooze('2026-03-20', 'watered', id).expect(200);
    }
    setClock('2026-03-12T12:00:00Z');
    const logged = bodyOf(await user.post('/api/events', { plantIds: plants }).expect(201));
    const { items } = logged as { items: { id: string }[] }; // The response of POST /api/events.
    expect(await everyDueOn('watered')).toEqual(plants.map(() => '2026-03-15'));
    const eventIds = items.map(({ id }) => id);
    await user.post('/api/events/delete', { eventIds }).expect(200);
    expect(await everyDueOn('watered')).toEqual(plants.map(() => '2026-03-20'));
  });

  test('or until its frequency is cleared, even if it is set again', async () => {
    await user.patch(`/api/plants/${plantId}`, { wateringFrequencyDays: 5 }).expect(200);
    expect(await dueOn()).toEqual(SNOOZED);
    await user.patch(`/api/plants/${plantId}`, { wateringFrequencyDays: null }).expect(200);
    await user.patch(`/api/plants/${plantId}`, { wateringFrequencyDays: 5 }).expect(200);
    expect(await dueOn()).toEqual({ ...SNOOZED, watered: '2026-03-10' });
  });
});

test('a snooze is from today to 365 days ahead', async () => {
  await snooze('2026-03-10').expect(200);
  await snooze('2027-03-10').expect(200);
  for (const until of ['2026-03-09', '2027-03-11', '2026-02-30', 'tomorrow']) {
    const answer = await snooze(until);
    expect({ until, status: answer.status }).toEqual({ until, status: 400 });
    expect(faultsOf(answer)).toEqual(['until']);
  }
  expect(await dueOn()).toMatchObject({ watered: '2027-03-10' });
});

test('the days are those of the account’s time zone', async () => {
  setClock('2026-03-10T11:30:00Z');
  await user.patch('/api/account', { timezone: 'Pacific/Auckland' }).expect(200);
  await snooze('2026-03-10').expect(400);
  await snooze('2026-03-11').expect(200);
  await snooze('2027-03-11').expect(200);
});

test('a snooze of an unknown plant, or of one without that frequency, is refused', async () => {
  const other = await service.user({ expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  for (const id of [NOBODYS_ID, (await other.plant({ wateringFrequencyDays: 1 })).id]) {
    const body = { plantId: id, type: 'watered', until: '2026-03-20' };
    expectError(await user.post('/api/care/snooze', body), 400, 'plant_not_found');
  }
  await user.patch(`/api/plants/${plantId}`, { fertilizerFrequencyDays: null }).expect(200);
  const answer = await snooze('2026-03-20', 'fertilized').expect(400);
  expect(faultsOf(answer)).toEqual(['type']);
  const wrong = await user.post('/api/care/snooze', { type: 'pruned' }).expect(400);
  expect(faultsOf(wrong)).toEqual(['plantId', 'type', 'until']);
});

test('a snooze changes neither the plant nor its tag, and reaches copies', async () => {
  const client = new Client(service.url, user.token);
  let { nextCursor } = await changesSince(client);
  const changed = async () => {
    const { plants, snoozes, nextCursor: next } = await changesSince(client, nextCursor);
    nextCursor = next;
    return { plants: plants.map(({ id }) => id), snoozes };
  };
  const before = await user.get(`/api/plants/${plantId}`).expect(200);
  await snooze('2026-03-20').expect(200);
  const after = await user.get(`/api/plants/${plantId}`).expect(200);
  expect([after.body, after.headers['etag']]).toEqual([before.body, before.headers['etag']]);
  const watered = { plantId, type: 'watered', until: '2026-03-20' };
  const fertilized = { plantId, type: 'fertilized', until: '2026-05-01' };
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [watered] });
  await snooze('2026-05-01', 'fertilized').expect(200);
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [watered, fertilized] });
  setClock('2026-03-10T12:00:01Z');
  const event = await user.event(plantId);
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [fertilized] });
  await user.delete(`/api/events/${event.id}`).expect(200);
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [watered, fertilized] });
  await snooze(null, 'fertilized').expect(200);
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [watered] });
  await user.patch(`/api/plants/${plantId}`, { wateringFrequencyDays: null }).expect(200);
  expect(await changed()).toEqual({ plants: [plantId], snoozes: [] });
  expect(await changed()).toEqual({ plants: [], snoozes: [] });
  client.close();
});

test('copies get the end of a snooze when only a schedule, or the schedule of an event, changes', async () => {
  const client = new Client(service.url, user.token);
  const copy = new Copy();
  const create = async (fields: object) => {
    const body = { everyDays: 3, ...fields };
    const answer = await user.post(`/api/plants/${plantId}/schedules`, body).expect(201);
    return String(bodyOf(answer)['id']);
  };
  const snoozed = async () => {
    await copy.sync(client);
    return copy.contents.snoozes.map(({ scheduleId }) => scheduleId);
  };
  const mist = await create({ care: 'other', label: 'Mist' });
  const repot = await create({ care: 'repotted' });
  for (const scheduleId of [mist, repot]) {
    await user.post('/api/care/snooze', { plantId, scheduleId, until: '2026-03-20' }).expect(200);
  }
  setClock('2026-03-10T12:00:01Z');
  const { id } = await user.event(plantId, { type: 'note' });
  expect(await snoozed()).toEqual([mist, repot]);
  await user.patch(`/api/events/${id}`, { scheduleId: mist }).expect(200);
  expect(await snoozed()).toEqual([repot]);
  const { id: other } = await user.event(plantId, { type: 'repotted', scheduleId: mist });
  expect(await snoozed()).toEqual([repot]);
  await user.delete(`/api/schedules/${mist}`).expect(200);
  expect(await snoozed()).toEqual([]);
  await user.delete(`/api/events/${other}`).expect(200);
  expect(await snoozed()).toEqual([repot]);
  await user.delete(`/api/schedules/${repot}`).expect(200);
  expect(await snoozed()).toEqual([]);
  client.close();
});

test('copies get the end of a snooze with a new event that counts for its schedule alone', async () => {
  const client = new Client(service.url, user.token);
  const copy = new Copy();
  const snoozed = async () => {
    await copy.sync(client);
    return copy.contents.snoozes.length;
  };
  const body = { everyDays: 3, care: 'repotted' };
  const answer = await user.post(`/api/plants/${plantId}/schedules`, body).expect(201);
  const scheduleId = bodyOf(answer)['id'];
  for (const event of [{ type: 'repotted' }, { type: 'note', scheduleId }]) {
    await user.post('/api/care/snooze', { plantId, scheduleId, until: '2026-03-20' }).expect(200);
    expect(await snoozed()).toBe(1);
    setClock(new Date(Date.now() + 1000).toISOString());
    await user.event(plantId, event);
    expect(await snoozed()).toBe(0);
  }
  client.close();
});

test('a plant that never had care, and lacks the fields for it, can be snoozed', async () => {
  const plants = service.app.database.connection.collection('plants');
  const $unset = { lastWatering: '', lastFertilizing: '' };
  await plants.updateMany({ userId: user.id }, { $unset });
  await snooze('2026-03-15').expect(200);
  expect(await dueOn()).toEqual({ watered: '2026-03-15', fertilized: '2026-03-10' });
  await user.get('/api/changes').expect(200);
});

test('is idempotent under its key', async () => {
  const key = randomUUID();
  const first = await snooze('2026-03-20').set('Idempotency-Key', key).expect(200);
  setClock('2026-03-10T12:00:01Z');
  await user.event(plantId);
  const again = await snooze('2026-03-20').set('Idempotency-Key', key).expect(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(bodyOf(again)).toEqual(bodyOf(first));
  expect(await dueOn()).toMatchObject({ watered: '2026-03-13' });
});
