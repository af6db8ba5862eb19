import { plantForEachTest } from '../../../test/support/plant-for-each-test';
import { bodyOf, listOf } from '../../../test/support/shapes';
import { HOUR_MS } from '../../../src/core/time';

const garden = plantForEachTest();

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T12:00:00.000Z`;
const FUTURE = new Date(Date.now() + 23 * HOUR_MS).toISOString();

function log(type: string, occurredAt: string): Promise<{ id: string }> {
  return garden.user.event(garden.plantId, { type, occurredAt });
}

/** The last care in the plant and in the list, which must be equal. */
async function lastCare(): Promise<{ lastWatered: unknown; lastEvent: unknown }> {
  const { lastWatered, lastEvent } = bodyOf(
    await garden.user.get(`/api/plants/${garden.plantId}`).expect(200),
  );
  const listed = listOf(await garden.user.get('/api/plants').expect(200));
  expect(listed.find(({ id }) => id === garden.plantId)).toMatchObject({ lastWatered, lastEvent });
  return { lastWatered, lastEvent };
}

test('a plant without care has neither lastWatered nor lastEvent', async () => {
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: null });
});

test.each(['fertilized', 'repotted', 'soil_change', 'note', 'journal', 'growth'])(
  'an event of type %s changes only lastEvent',
  async (type) => {
    await log(type, day(1));
    expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: day(1) });
  },
);

test('a watering changes both, a later note only lastEvent', async () => {
  await log('watered', day(1));
  expect(await lastCare()).toEqual({ lastWatered: day(1), lastEvent: day(1) });
  await log('note', day(2));
  expect(await lastCare()).toEqual({ lastWatered: day(1), lastEvent: day(2) });
});

test('events that are logged later for earlier days change neither', async () => {
  await log('watered', day(9));
  await log('watered', day(3));
  await log('note', day(5));
  await log('watered', '1999-01-01T00:00:00Z');
  expect(await lastCare()).toEqual({ lastWatered: day(9), lastEvent: day(9) });
});

test('events in the next hours count like any other', async () => {
  await log('watered', FUTURE);
  await log('watered', day(3));
  expect(await lastCare()).toEqual({ lastWatered: FUTURE, lastEvent: FUTURE });
});

test('events before 1970 count like any other', async () => {
  await log('watered', '1950-06-01T00:00:00.000Z');
  expect((await lastCare()).lastWatered).toBe('1950-06-01T00:00:00.000Z');
});

test('deleting the latest event restores the one before it, down to none', async () => {
  const second = await log('watered', day(2));
  const first = await log('watered', day(1));
  const note = await log('note', day(3));
  await garden.user.delete(`/api/events/${note.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(2), lastEvent: day(2) });
  await garden.user.delete(`/api/events/${second.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(1), lastEvent: day(1) });
  await garden.user.delete(`/api/events/${first.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: null });
});

test('deleting an event that is not the latest changes neither', async () => {
  const old = await log('watered', day(1));
  await log('watered', day(2));
  await garden.user.delete(`/api/events/${old.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(2), lastEvent: day(2) });
});

test('of two events at the same moment, deleting one leaves the other', async () => {
  const first = await log('watered', day(4));
  await log('watered', day(4));
  const note = await log('note', day(4));
  await garden.user.delete(`/api/events/${first.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(4), lastEvent: day(4) });
  await garden.user.delete(`/api/events/${note.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(4), lastEvent: day(4) });
});

test('deleting the only watering leaves the note as lastEvent', async () => {
  const watering = await log('watered', day(5));
  await log('note', day(2));
  await garden.user.delete(`/api/events/${watering.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: day(2) });
});

test('moving an event forward and back updates both', async () => {
  await log('watered', day(5));
  const moved = await log('watered', day(3));
  const move = (occurredAt: string) => garden.user.patch(`/api/events/${moved.id}`, { occurredAt });
  await move(day(8)).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(8), lastEvent: day(8) });
  await move(day(1)).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(5), lastEvent: day(5) });
  await move(FUTURE).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: FUTURE, lastEvent: FUTURE });
});

test('changing other fields changes neither, and care does not change updatedAt of the plant', async () => {
  const plant = bodyOf(await garden.user.get(`/api/plants/${garden.plantId}`).expect(200));
  const event = await log('watered', day(5));
  await garden.user.patch(`/api/events/${event.id}`, { text: 'x' }).expect(200);
  expect(bodyOf(await garden.user.get(`/api/plants/${garden.plantId}`).expect(200))).toEqual({
    ...plant,
    lastWatered: day(5),
    lastEvent: day(5),
  });
});

test('whatever is logged, moved and deleted concurrently, the latest remaining event is shown', async () => {
  const days = Array.from({ length: 28 }, (_, index) => index + 1);
  const logged = await Promise.all(
    days.map((number) => log(number % 2 ? 'watered' : 'note', day(number))),
  );
  await Promise.all(
    logged.map(({ id }, index) => {
      if (index >= 20) return garden.user.delete(`/api/events/${id}`).expect(200);
      if (index >= 10)
        return garden.user.patch(`/api/events/${id}`, { occurredAt: day(1) }).expect(200);
      return garden.user.patch(`/api/events/${id}`, { text: 'x' }).expect(200);
    }),
  );
  expect(await lastCare()).toEqual({ lastWatered: day(9), lastEvent: day(10) });
});

test('events of one plant do not affect another', async () => {
  const other = await garden.user.plant();
  await garden.user.event(other.id);
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: null });
});
