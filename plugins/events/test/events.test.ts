import { until } from '../../../test/support/processes';
import { plantForEachTest } from '../../../test/support/plant-for-each-test';
import { bareEvent, bodyOf, expectError, listOf, NOBODYS_ID } from '../../../test/support/shapes';

const garden = plantForEachTest();

async function listed(): Promise<Record<string, unknown>[]> {
  const page = await garden.user.get(`/api/plants/${garden.plantId}/events?limit=100`).expect(200);
  return bodyOf(page)['items'] as Record<string, unknown>[]; // The tests compare them.
}

test('an event without fields is a watering at the current time', async () => {
  const from = Date.now();
  const response = await garden.user.post(`/api/plants/${garden.plantId}/events`, {}).expect(201);
  const event = bodyOf(response);
  expect(event).toEqual(bareEvent(garden.user.id, garden.plantId));
  const occurredAt = Date.parse(String(event['occurredAt']));
  expect(occurredAt).toBeGreaterThanOrEqual(from);
  expect(occurredAt).toBeLessThanOrEqual(Date.now());
  expect(event['updatedAt']).toBe(event['createdAt']);
});

test('an event has every field that was sent, in the response and in the list', async () => {
  const photo = await garden.user.photo({ plantId: garden.plantId });
  const said = {
    type: 'growth',
    text: 'A new leaf',
    growthAmount: 2.5,
    growthUnit: 'cm',
    occurredAt: '2026-03-01T09:30:00.123Z',
  };
  const event = await garden.user.event(garden.plantId, { ...said, photoIds: [photo.id] });
  expect(event).toEqual({ ...bareEvent(garden.user.id, garden.plantId), ...said, photos: [photo] });
  expect(await listed()).toEqual([event]);
});

test('growth is allowed with any type, and each of its two fields without the other', async () => {
  const amount = await garden.user.event(garden.plantId, { type: 'note', growthAmount: 3 });
  expect(amount).toMatchObject({ growthAmount: 3, growthUnit: null });
  const unit = await garden.user.event(garden.plantId, { type: 'watered', growthUnit: 'in' });
  expect(unit).toMatchObject({ growthAmount: null, growthUnit: 'in' });
});

describe('isJournal', () => {
  test('true means type journal, with or without an explicit type', async () => {
    const bare = await garden.user.event(garden.plantId, { isJournal: true });
    expect(bare).toEqual({ ...bareEvent(garden.user.id, garden.plantId), type: 'journal' });
    const typed = await garden.user.event(garden.plantId, { isJournal: true, type: 'journal' });
    expect(typed['type']).toBe('journal');
  });

  test('true with any other type is refused', async () => {
    for (const type of ['watered', 'fertilized', 'repotted', 'soil_change', 'note', 'growth']) {
      const event = { isJournal: true, type };
      const response = await garden.user.post(`/api/plants/${garden.plantId}/events`, event);
      expectError(response, 400, 'validation_error', /\b(type|isJournal)\b/);
    }
    expect(await listed()).toEqual([]);
  });

  test('false is ignored', async () => {
    expect((await garden.user.event(garden.plantId, { isJournal: false }))['type']).toBe('watered');
    for (const type of ['journal', 'note']) {
      expect((await garden.user.event(garden.plantId, { isJournal: false, type }))['type']).toBe(
        type,
      );
    }
  });

  test('cannot be changed', async () => {
    const { id } = await garden.user.event(garden.plantId);
    const response = await garden.user.patch(`/api/events/${id}`, { isJournal: true });
    expectError(response, 400, 'validation_error', /\bisJournal\b/);
  });
});

describe('a change', () => {
  const FULL = {
    type: 'growth',
    text: 'A new leaf',
    growthAmount: 2.5,
    growthUnit: 'cm',
    occurredAt: '2026-03-01T09:30:00.000Z',
  };

  test('without fields returns the event and changes nothing, not even updatedAt', async () => {
    const photo = await garden.user.photo();
    const event = await garden.user.event(garden.plantId, { ...FULL, photoIds: [photo.id] });
    const response = await garden.user.patch(`/api/events/${event.id}`, {}).expect(200);
    expect(response.body).toEqual(event);
    expect(await listed()).toEqual([event]);
  });

  test('of one field changes only updatedAt besides, and of the moment its day', async () => {
    const photo = await garden.user.photo();
    let event = await garden.user.event(garden.plantId, { ...FULL, photoIds: [photo.id] });
    for (const [field, value] of [
      ['text', 'Two new leaves'],
      ['text', ''],
      ['text', null],
      ['occurredAt', '2025-01-02T03:04:05.006Z'],
      ['growthAmount', 0.1],
      ['growthUnit', 'in'],
    ] as const) {
      const from = Date.now();
      const change = await garden.user
        .patch(`/api/events/${event.id}`, { [field]: value })
        .expect(200);
      const { updatedAt } = bodyOf(change);
      const day = field === 'occurredAt' && { occurredOn: value.slice(0, 10) };
      event = { ...event, [field]: value, updatedAt, ...day };
      expect(change.body).toEqual(event);
      expect(Date.parse(String(updatedAt))).toBeGreaterThanOrEqual(from);
      expect(await listed()).toEqual([event]);
    }
  });

  test('cannot change the type', async () => {
    const { id } = await garden.user.event(garden.plantId);
    const response = await garden.user.patch(`/api/events/${id}`, { type: 'note' });
    expectError(response, 400, 'validation_error', /\btype\b/);
  });
});

describe('a deleted event', () => {
  test('disappears from the list and the month, and cannot be changed or deleted again', async () => {
    const kept = await garden.user.event(garden.plantId);
    const event = await garden.user.event(garden.plantId, { occurredAt: '2026-03-01T00:00:00Z' });
    const response = await garden.user.delete(`/api/events/${event.id}`).expect(200);
    expect(response.body).toEqual({ success: true });
    expect(await listed()).toEqual([kept]);
    const bounds = 'monthStart=1772236800000&monthEnd=1772409600000';
    const month = await garden.user
      .get(`/api/plants/${garden.plantId}/events/month?${bounds}`)
      .expect(200);
    expect(month.body).toEqual([]);
    expectError(
      await garden.user.patch(`/api/events/${event.id}`, { text: 'x' }),
      404,
      'event_not_found',
    );
    expectError(await garden.user.patch(`/api/events/${event.id}`, {}), 404, 'event_not_found');
    expectError(await garden.user.delete(`/api/events/${event.id}`), 404, 'event_not_found');
  });

  test('stays in the database, with the time of its deletion', async () => {
    const event = await garden.user.event(garden.plantId, { text: 'Kept' });
    const from = Date.now();
    await garden.user.delete(`/api/events/${event.id}`).expect(200);
    const events = garden.service.app.database.connection.collection('events');
    const [stored] = await events.find({ userId: garden.user.id, text: 'Kept' }).toArray();
    const deletedAt: unknown = stored?.['deletedAt'];
    expect(new Date(String(deletedAt)).getTime()).toBeGreaterThan(0);
    expect((deletedAt as Date).getTime()).toBeGreaterThanOrEqual(from); // Just checked.
  });

  test('is deleted once, even by many concurrent requests', async () => {
    const { id } = await garden.user.event(garden.plantId);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => garden.user.delete(`/api/events/${id}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  });
});

test('the events of a deleted plant disappear at once', async () => {
  const events = await Promise.all([
    garden.user.event(garden.plantId),
    garden.user.event(garden.plantId, { type: 'note' }),
  ]);
  await garden.user.delete(`/api/plants/${garden.plantId}`).expect(200);
  for (const { id } of events) {
    expectError(
      await garden.user.patch(`/api/events/${id}`, { text: 'x' }),
      404,
      'event_not_found',
    );
    expectError(await garden.user.delete(`/api/events/${id}`), 404, 'event_not_found');
  }
  expectError(
    await garden.user.get(`/api/plants/${garden.plantId}/events`),
    404,
    'plant_not_found',
  );
  expectError(
    await garden.user.post(`/api/plants/${garden.plantId}/events`, {}),
    404,
    'plant_not_found',
  );
});

test('a job marks the events of a deleted plant as deleted', async () => {
  await Promise.all(
    Array.from({ length: 5 }, () => garden.user.event(garden.plantId, { text: 'Orphan' })),
  );
  await garden.user.delete(`/api/plants/${garden.plantId}`).expect(200);
  const events = garden.service.app.database.connection.collection('events');
  const live = { userId: garden.user.id, text: 'Orphan', deletedAt: null };
  await until(async () => (await events.countDocuments(live)) === 0);
  expect(await events.countDocuments({ userId: garden.user.id, text: 'Orphan' })).toBe(5);
});

test('unknown events and plants are not found', async () => {
  expectError(await garden.user.patch(`/api/events/${NOBODYS_ID}`, {}), 404, 'event_not_found');
  expectError(await garden.user.delete(`/api/events/${NOBODYS_ID}`), 404, 'event_not_found');
  expectError(await garden.user.get(`/api/plants/${NOBODYS_ID}/events`), 404, 'plant_not_found');
  expectError(
    await garden.user.post(`/api/plants/${NOBODYS_ID}/events`, {}),
    404,
    'plant_not_found',
  );
});

test('events are listed only for their own plant', async () => {
  const other = await garden.user.plant();
  await garden.user.event(other.id);
  const event = await garden.user.event(garden.plantId);
  expect(await listed()).toEqual([event]);
  expect(listOf({ body: await listed() }).every((each) => each['plantId'] === garden.plantId)).toBe(
    true,
  );
});

test('ids in upper case are accepted and returned in lower case', async () => {
  const event = await garden.user.event(garden.plantId.toUpperCase());
  expect(event['plantId']).toBe(garden.plantId);
  const change = await garden.user.patch(`/api/events/${event.id.toUpperCase()}`, { text: 'x' });
  expect(bodyOf(change)['id']).toBe(event.id);
  await garden.user.delete(`/api/events/${event.id.toUpperCase()}`).expect(200);
});
