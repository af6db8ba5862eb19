import { plantForEachTest } from '../../../test/support/plant-for-each-test';
import { bodyOf, listOf } from '../../../test/support/shapes';
import { HOUR_MS } from '../../../src/core/time';

const garden = plantForEachTest();

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T12:00:00.000Z`;
const FUTURE = new Date(Date.now() + 23 * HOUR_MS).toISOString();

function log(type: string, occurredAt: string): Promise<{ id: string }> {
  return garden.user.event(garden.plantId, { type, occurredAt });
}

/** What the plant and the list say, which must be the same. */
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
  'an event of type %s moves lastEvent alone',
  async (type) => {
    await log(type, day(1));
    expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: day(1) });
  },
);

test('a watering moves both, a later note lastEvent alone', async () => {
  await log('watered', day(1));
  expect(await lastCare()).toEqual({ lastWatered: day(1), lastEvent: day(1) });
  await log('note', day(2));
  expect(await lastCare()).toEqual({ lastWatered: day(1), lastEvent: day(2) });
});

test('events logged late, about earlier days, move nothing', async () => {
  await log('watered', day(9));
  await log('watered', day(3));
  await log('note', day(5));
  await log('watered', '1999-01-01T00:00:00Z');
  expect(await lastCare()).toEqual({ lastWatered: day(9), lastEvent: day(9) });
});

test('events within the next hours count like any other', async () => {
  await log('watered', FUTURE);
  await log('watered', day(3));
  expect(await lastCare()).toEqual({ lastWatered: FUTURE, lastEvent: FUTURE });
});

test('events before 1970 count like any other', async () => {
  await log('watered', '1950-06-01T00:00:00.000Z');
  expect((await lastCare()).lastWatered).toBe('1950-06-01T00:00:00.000Z');
});

test('deleting the latest brings back the one before it, down to none', async () => {
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

test('deleting one that was not the latest moves nothing', async () => {
  const old = await log('watered', day(1));
  await log('watered', day(2));
  await garden.user.delete(`/api/events/${old.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(2), lastEvent: day(2) });
});

test('of two at the same moment the other stays when one is deleted', async () => {
  const first = await log('watered', day(4));
  await log('watered', day(4));
  const note = await log('note', day(4));
  await garden.user.delete(`/api/events/${first.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(4), lastEvent: day(4) });
  await garden.user.delete(`/api/events/${note.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: day(4), lastEvent: day(4) });
});

test('deleting the only watering leaves lastEvent to the note beside it', async () => {
  const watering = await log('watered', day(5));
  await log('note', day(2));
  await garden.user.delete(`/api/events/${watering.id}`).expect(200);
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: day(2) });
});

test('moving an event forward and back moves what follows from it', async () => {
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

test('a change of other fields moves nothing, and the care of a plant is not a change of it', async () => {
  const plant = bodyOf(await garden.user.get(`/api/plants/${garden.plantId}`).expect(200));
  const event = await log('watered', day(5));
  await garden.user.patch(`/api/events/${event.id}`, { text: 'x' }).expect(200);
  expect(bodyOf(await garden.user.get(`/api/plants/${garden.plantId}`).expect(200))).toEqual({
    ...plant,
    lastWatered: day(5),
    lastEvent: day(5),
  });
});

test('whatever is logged, moved and deleted at the same time, the greatest that remains is shown', async () => {
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

test('the events of one plant do not touch another', async () => {
  const other = await garden.user.plant();
  await garden.user.event(other.id);
  expect(await lastCare()).toEqual({ lastWatered: null, lastEvent: null });
});
