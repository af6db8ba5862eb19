import { randomUUID } from 'node:crypto';

import { Client } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
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

const snooze = (until: string, type = 'watered') =>
  user.post('/api/care/snooze', { plantId, type, until });

/** The days on which watering and fertilizing are due. */
async function dueOn(): Promise<Record<string, unknown>> {
  const body: unknown = (await user.get('/api/care?dueBy=9999-12-31').expect(200)).body;
  const { items } = body as { items: { type: string; dueOn: string }[] }; // Its values are compared.
  return Object.fromEntries(items.map((item) => [item.type, item.dueOn]));
}

test('snoozed care is due on that day at the earliest, and the item is answered', async () => {
  const answer = await snooze('2026-03-15').expect(200);
  expect(answer.body).toEqual({
    ...{ plantId, plantName: 'Boston fern', location: null, type: 'watered', everyDays: 3 },
    ...{ lastDone: null, dueOn: '2026-03-15', daysOverdue: -5 },
  });
  expect(await dueOn()).toEqual({ watered: '2026-03-15', fertilized: '2026-03-10' });
  setClock('2026-03-16T12:00:00Z');
  const body: unknown = (await user.get('/api/care?type=watered').expect(200)).body;
  expect(body).toMatchObject({ items: [{ dueOn: '2026-03-15', daysOverdue: 1 }] });
});

test('a day before it would be due anyway changes nothing, and the latest snooze is the one that counts', async () => {
  await user.event(plantId);
  await snooze('2026-03-12').expect(200);
  expect(await dueOn()).toMatchObject({ watered: '2026-03-13' });
  await snooze('2026-03-20').expect(200);
  await snooze('2026-03-18').expect(200);
  expect(await dueOn()).toMatchObject({ watered: '2026-03-18' });
});

test.each([
  ['logged', '2026-03-10T11:00:00Z', '2026-03-13'],
  ['logged about an earlier day', '2026-01-01T00:00:00Z', '2026-01-04'],
])('an event of that type that is %s ends it for good', async (_how, occurredAt, due) => {
  await snooze('2026-03-20').expect(200);
  await snooze('2026-05-01', 'fertilized').expect(200);
  const event = await user.event(plantId, { occurredAt });
  expect(await dueOn()).toEqual({ watered: due, fertilized: '2026-05-01' });
  await user.delete(`/api/events/${event.id}`).expect(200);
  expect(await dueOn()).toMatchObject({ watered: '2026-03-10' });
  await user.post(`/api/events/${event.id}/restore`).expect(200);
  expect(await dueOn()).toMatchObject({ watered: due });
});

test('logging in bulk ends the snoozes of all its plants', async () => {
  const other = await user.plant({ fertilizerFrequencyDays: 30 });
  await snooze('2026-05-01', 'fertilized').expect(200);
  const body = { type: 'fertilized', plantIds: [plantId, other.id] };
  await user.post('/api/events', body).expect(201);
  expect(await dueOn()).toMatchObject({ fertilized: '2026-04-09' });
});

test('what was logged before, and is moved, deleted or restored, does not end it', async () => {
  const event = await user.event(plantId);
  await snooze('2026-03-20').expect(200);
  await user.patch(`/api/events/${event.id}`, { occurredAt: '2026-03-09T00:00:00Z' }).expect(200);
  await user.delete(`/api/events/${event.id}`).expect(200);
  await user.post(`/api/events/${event.id}/restore`).expect(200);
  await user.event(plantId, { type: 'note' });
  expect(await dueOn()).toMatchObject({ watered: '2026-03-20' });
});

test('it may be today, and 365 days ahead, and no other day is taken', async () => {
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

test('a plant that is not there, or without that frequency, is refused', async () => {
  const other = await service.user({ expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  for (const id of [NOBODYS_ID, (await other.plant({ wateringFrequencyDays: 1 })).id]) {
    const body = { plantId: id, type: 'watered', until: '2026-03-20' };
    expectError(await user.post('/api/care/snooze', body), 400, 'plant_not_found');
  }
  await user.patch(`/api/plants/${plantId}`, { fertilizerFrequencyDays: null }).expect(200);
  const answer = await snooze('2026-03-20', 'fertilized').expect(400);
  expect(faultsOf(answer)).toEqual(['type']);
  const wrong = await user.post('/api/care/snooze', { type: 'repotted' }).expect(400);
  expect(faultsOf(wrong)).toEqual(['plantId', 'type', 'until']);
});

test('it changes nothing that the plant shows, nor its tag, nor what copies have to follow', async () => {
  const client = new Client(service.url, user.token);
  const { nextCursor } = await changesSince(client);
  const before = await user.get(`/api/plants/${plantId}`).expect(200);
  await snooze('2026-03-20').expect(200);
  const after = await user.get(`/api/plants/${plantId}`).expect(200);
  expect([after.body, after.headers['etag']]).toEqual([before.body, before.headers['etag']]);
  expect(await changesSince(client, nextCursor)).toMatchObject({ plants: [], deleted: [] });
  client.close();
});

test('sent again under its key it is answered again, and not done again', async () => {
  const key = randomUUID();
  const first = await snooze('2026-03-20').set('Idempotency-Key', key).expect(200);
  await user.event(plantId);
  const again = await snooze('2026-03-20').set('Idempotency-Key', key).expect(200);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(bodyOf(again)).toEqual(bodyOf(first));
  expect(await dueOn()).toMatchObject({ watered: '2026-03-13' });
});
