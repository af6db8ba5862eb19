import { randomUUID } from 'node:crypto';

import { Client } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
import type { TestService } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { several } from '../../../test/support/several';
import { startService } from '../../../test/support/program';
import type { CareItem } from '../schema';
import { ALWAYS, type CareUser, careUser, inShort } from './care-user';

let service: TestService;
let user: CareUser;
let fern: string;
let moss: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await careUser(service, '2026-03-10T12:00:00Z');
  ({ id: fern } = await user.plant({ name: 'Fern', location: 'Hall', wateringFrequencyDays: 7 }));
  ({ id: moss } = await user.plant({ name: 'Moss', location: 'Hall', wateringFrequencyDays: 3 }));
});
afterEach(resetClock);
afterAll(() => service.close());

const act = (what: 'done' | 'skip' | 'snooze', body: object) =>
  user.post(`/api/care/${what}`, body);
const itemsOf = (body: unknown, list = 'items') =>
  ((body as Record<string, CareItem[]>)[list] ?? []).map(inShort); // Its values are compared.

describe('done', () => {
  const done = (body: object) => act('done', body);

  test('logs an event of the schedule and returns when it is due next', async () => {
    const { id: scheduleId } = await user.schedule(fern, { care: 'repotted', everyDays: 700 });
    const photo = await user.photo();
    const facts = { text: 'A larger pot', occurredAt: '2026-03-09T08:00:00.000Z' };
    const answer = await done({ plantId: fern, scheduleId, ...facts, photoIds: [photo.id] });
    expect(answer.status).toBe(201);
    const { items, next } = bodyOf(answer);
    expect(items).toMatchObject([
      { type: 'repotted', plantId: fern, scheduleId, ...facts, photos: [{ id: photo.id }] },
    ]);
    expect(next).toMatchObject([{ scheduleId, lastDone: facts.occurredAt, dueOn: '2028-02-07' }]);
  });

  test('logs a note with the label for a schedule of other care, unless a text is given', async () => {
    const { id: scheduleId } = await user.schedule(fern, {
      care: 'other',
      label: 'Turn it',
      weekdays: ['tue', 'sat'],
    });
    const first = bodyOf(await done({ plantIds: [fern], scheduleId }).expect(201));
    expect(first).toMatchObject({
      items: [{ type: 'note', text: 'Turn it', scheduleId }],
      next: [{ dueOn: '2026-03-14', everyDays: 3 }],
    });
    const second = await done({ plantId: fern, scheduleId, text: 'To the left' }).expect(201);
    expect(second.body).toMatchObject({ items: [{ text: 'To the left' }] });
  });

  test('by type, logs care of several plants or of a location', async () => {
    await user.schedule(fern, { everyDays: 5 });
    const some = await done({ plantIds: [moss, fern], type: 'watered' }).expect(201);
    expect(itemsOf(some.body, 'next')).toEqual([
      'Moss watered 2026-03-13',
      'Fern watered 2026-03-15',
    ]);
    expect(bodyOf(some)['items']).toMatchObject([{ plantId: fern }, { plantId: moss }]);
    setClock('2026-03-12T12:00:00Z');
    const all = await done({ location: ' Hall', type: 'watered' }).expect(201);
    expect(itemsOf(all.body, 'next')).toEqual([
      'Moss watered 2026-03-15',
      'Fern watered 2026-03-17',
    ]);
    const other = await done({ location: 'Hall', type: 'soil_change' }).expect(201);
    expect(other.body).toMatchObject({ items: [{ type: 'soil_change' }, {}], next: [] });
  });

  test('is undone by deleting its events', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 5 });
    const { items } = bodyOf(await done({ plantId: fern, scheduleId }).expect(201));
    expect(await user.days(`${ALWAYS}&location=Hall`)).toContain('Fern watered 2026-03-15');
    const eventIds = (items as { id: string }[]).map(({ id }) => id); // Events.
    await user.post('/api/events/delete', { eventIds }).expect(200);
    expect(await user.days()).toContain('Fern watered 2026-03-10');
  });

  test('is idempotent under its key', async () => {
    const key = randomUUID();
    const send = () => done({ plantId: fern, type: 'watered' }).set('Idempotency-Key', key);
    const first = await send().expect(201);
    expect(bodyOf(await send().expect(201))).toEqual(bodyOf(first));
    expect(bodyOf(await user.get(`/api/plants/${fern}/events`))['items']).toHaveLength(1);
  });

  test('is all or nothing', async () => {
    const body = { plantIds: [fern, NOBODYS_ID], type: 'watered' };
    expectError(await done(body), 400, 'plant_not_found', /^plantIds /);
    const later = { plantIds: [fern, moss], type: 'watered', photoIds: [NOBODYS_ID] };
    expectError(await done(later), 400, 'photo_not_found');
    expect(bodyOf(await user.get('/api/events').expect(200))['items']).toEqual([]);
  });

  test('refuses a location with more than 100 plants', async () => {
    await several(101, () => user.plant({ location: 'Field' }));
    const answer = await done({ location: 'Field', type: 'watered' }).expect(400);
    expect(faultsOf(answer)).toEqual(['location']);
    await act('snooze', { location: 'Field', type: 'watered', until: '2026-03-11' }).expect(200);
  });
});

describe('skip', () => {
  const skip = (body: object) => act('skip', body);

  test('counts like care on its due day, or today if that is past', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 5, startOn: '2026-03-01' });
    const event = await user.event(fern, { occurredAt: '2026-03-02T12:00:00Z' });
    const overdue = await skip({ plantId: fern, scheduleId }).expect(200);
    const item = { plantName: 'Fern', lastDone: event['occurredAt'], snoozedUntil: null };
    expect(overdue.body).toMatchObject({ ...item, dueOn: '2026-03-15' });
    const toCome = await skip({ plantId: fern, scheduleId }).expect(200);
    expect(toCome.body).toMatchObject({ ...item, dueOn: '2026-03-20' });
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-20');
    const none = await act('snooze', { plantId: fern, scheduleId, until: null }).expect(200);
    expect(none.body).toMatchObject({ ...item, dueOn: '2026-03-07' });
  });

  test('by type, also applies to the frequency of the plant', async () => {
    await skip({ plantId: fern, type: 'watered' }).expect(200);
    expect(await user.days(ALWAYS)).toEqual(['Moss watered 2026-03-10', 'Fern watered 2026-03-17']);
    await user.event(fern);
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-17');
    setClock('2026-03-12T12:00:00Z');
    await user.event(fern);
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-19');
    await user.patch(`/api/plants/${moss}`, { wateringFrequencyDays: 3 }).expect(200);
    await skip({ plantId: moss, type: 'watered' }).expect(200);
    await user.patch(`/api/plants/${moss}`, { wateringFrequencyDays: null }).expect(200);
    await user.patch(`/api/plants/${moss}`, { wateringFrequencyDays: 3 }).expect(200);
    expect(await user.days()).toEqual(['Moss watered 2026-03-10']);
  });

  test('replaces a snooze, and is replaced by one', async () => {
    const watering = { plantId: fern, type: 'watered' };
    await act('snooze', { ...watering, until: '2026-03-12' }).expect(200);
    expect(bodyOf(await skip(watering))).toMatchObject({ dueOn: '2026-03-19', snoozedUntil: null });
    const snoozed = await act('snooze', { ...watering, until: '2026-03-13' }).expect(200);
    expect(snoozed.body).toMatchObject({ dueOn: '2026-03-13', snoozedUntil: '2026-03-13' });
    const back = await act('snooze', { ...watering, until: null }).expect(200);
    expect(back.body).toMatchObject({ dueOn: '2026-03-10', snoozedUntil: null });
  });

  test('can skip the last occurrence, and be undone', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 5, endOn: '2026-03-12' });
    const named = { plantId: fern, scheduleId };
    expect((await skip(named).expect(200)).body).toEqual({ items: [] });
    expect(faultsOf(await skip(named).expect(400))).toEqual(['scheduleId']);
    const back = await act('snooze', { ...named, until: null }).expect(200);
    expect(back.body).toMatchObject({ dueOn: '2026-03-10' });
  });

  test('skips only care that is due, for several plants', async () => {
    await user.event(moss);
    const answer = await skip({ location: 'Hall', type: 'watered' }).expect(200);
    expect(itemsOf(answer.body)).toEqual(['Fern watered 2026-03-17']);
    expect(await user.days(ALWAYS)).toEqual(['Moss watered 2026-03-13', 'Fern watered 2026-03-17']);
  });
});

describe('snooze', () => {
  const snooze = (until: string | null, body: object) => act('snooze', { until, ...body });

  test('applies to a schedule until its care is done', async () => {
    const { id: scheduleId } = await user.schedule(fern, { everyDays: 5 });
    const { id: other } = await user.schedule(fern, { everyDays: 6 });
    const answer = await snooze('2026-03-20', { plantId: fern, scheduleId }).expect(200);
    expect(answer.body).toMatchObject({ scheduleId, snoozedUntil: '2026-03-20', daysOverdue: -10 });
    setClock('2026-03-11T12:00:00Z');
    await user.event(fern, { scheduleId: other });
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-20');
    const event = await user.event(fern, { scheduleId });
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-16');
    await user.delete(`/api/events/${event.id}`).expect(200);
    expect(await user.days(ALWAYS)).toContain('Fern watered 2026-03-20');
  });

  test('puts care of many plants off, and brings none forward', async () => {
    const { id: palm } = await user.plant({ name: 'Palm', wateringFrequencyDays: 30 });
    await user.schedule(moss, { care: 'fertilized', everyDays: 9 });
    await user.event(palm);
    await user.event(moss);
    await snooze('2026-03-25', { plantId: fern, type: 'watered' }).expect(200);
    // Moss is due on this very day.
    const none = await snooze('2026-03-13', { plantIds: [fern, moss], type: 'watered' });
    expect(none.body).toEqual({ items: [] });
    const some = await snooze('2026-03-14', { plantIds: [fern, moss], type: 'watered' }).expect(
      200,
    );
    expect(itemsOf(some.body)).toEqual(['Moss watered 2026-03-14']);
    const all = await snooze('2026-04-01', { all: true, type: 'watered' }).expect(200);
    expect(itemsOf(all.body)).toEqual(['Fern watered 2026-04-01', 'Moss watered 2026-04-01']);
    expect(await user.days(ALWAYS)).toEqual([
      'Moss fertilized 2026-03-10',
      'Fern watered 2026-04-01',
      'Moss watered 2026-04-01',
      'Palm watered 2026-04-09',
    ]);
    const back = await snooze(null, { location: 'Hall', type: 'watered' }).expect(200);
    expect(itemsOf(back.body)).toEqual(['Fern watered 2026-03-10', 'Moss watered 2026-03-13']);
    expect(itemsOf((await snooze(null, { all: true, type: 'watered' })).body)).toEqual([]);
  });

  test('can put off care of any kind, for one plant or for all', async () => {
    await user.schedule(fern, { care: 'other', label: 'Mist', everyDays: 5 });
    await user.schedule(moss, { care: 'repotted', everyDays: 365, startOn: '2026-05-01' });
    const ofFern = await snooze('2026-03-12', { plantId: fern, type: 'any' }).expect(200);
    expect(itemsOf(ofFern.body)).toEqual(['Fern watered 2026-03-12', 'Fern Mist 2026-03-12']);
    const all = await snooze('2026-03-14', { all: true, type: 'any' }).expect(200);
    expect(itemsOf(all.body)).toEqual([
      'Fern watered 2026-03-14',
      'Fern Mist 2026-03-14',
      'Moss watered 2026-03-14',
    ]);
    expect(await user.days(ALWAYS)).toContain('Moss repotted 2026-05-01');
    const back = await snooze(null, { all: true, type: 'any' }).expect(200);
    expect(itemsOf(back.body)).toHaveLength(3);
  });

  test('names plants in exactly one way, and care in exactly one way', async () => {
    const one = { plantId: fern, type: 'watered' };
    const wrong: [string[], object][] = [
      [['plantId'], { type: 'watered' }],
      [['type'], { plantId: fern }],
      [['location'], { ...one, location: 'Hall' }],
      [['all'], { ...one, all: true }],
      [['scheduleId'], { ...one, scheduleId: NOBODYS_ID }],
      [['all'], { type: 'watered', all: false }],
      [['location'], { type: 'watered', location: 'Attic' }],
      [['type'], { plantId: fern, type: 'fertilized' }],
    ];
    for (const [fields, body] of wrong) {
      expect(faultsOf(await snooze('2026-03-20', body).expect(400))).toEqual(fields);
    }
    const { id: scheduleId } = await user.schedule(moss, { everyDays: 5 });
    const ofAnother = await snooze('2026-03-20', { plantId: fern, scheduleId });
    expectError(ofAnother, 400, 'schedule_not_found', /^scheduleId /);
    await user.patch(`/api/schedules/${scheduleId}`, { active: false }).expect(200);
    const paused = await snooze('2026-03-20', { plantId: moss, scheduleId }).expect(400);
    expect(faultsOf(paused)).toEqual(['scheduleId']);
  });

  test('reaches copies with the plant, as does a skip', async () => {
    const client = new Client(service.url, user.token);
    const { id: scheduleId } = await user.schedule(fern, {
      care: 'other',
      label: 'Mist',
      everyDays: 5,
    });
    let { nextCursor } = await changesSince(client);
    const changed = async () => {
      const { plants, snoozes, nextCursor: next } = await changesSince(client, nextCursor);
      nextCursor = next;
      return { plants: plants.map(({ id }) => id), snoozes };
    };
    await snooze('2026-03-20', { plantId: fern, scheduleId }).expect(200);
    const mist = { plantId: fern, type: 'note', scheduleId, until: '2026-03-20' };
    expect(await changed()).toEqual({ plants: [fern], snoozes: [mist] });
    await act('skip', { plantId: fern, type: 'watered' }).expect(200);
    const watering = { plantId: fern, type: 'watered', until: null, skippedOn: '2026-03-10' };
    expect(await changed()).toEqual({ plants: [fern], snoozes: [watering, mist] });
    setClock('2026-03-11T12:00:00Z');
    await user.event(fern);
    await act('done', { plantId: fern, scheduleId }).expect(201);
    expect(await changed()).toEqual({ plants: [fern], snoozes: [] });
    client.close();
  });
});
