import fc from 'fast-check';

import { record, records } from '../support/client';
import { type Actor, same } from './actor';
import { command, commandOn, reference, target } from './command';
import { dayAfter, dayOf } from './days';
import { CARE_TYPES, careItemOf, dueCareOf } from './due-care';
import { expectInsights } from './read-insights';

/** Few, so that the order of plants and missing ones matter. */
const someOf = (one: typeof target) =>
  fc.uniqueArray(one, { minLength: 1, maxLength: 4, selector: ({ pick }) => pick });

const logCare = command(
  'log care',
  fc.record({
    plants: fc.option(someOf(reference)),
    location: fc.constantFrom(' Hall ', 'hall', 'Hall', '🌿 fern'),
    type: fc.constantFrom(...CARE_TYPES, 'note'),
    daysAgo: fc.option(fc.nat(9)),
  }),
  async (actor, { plants, location, type, daysAgo }) => {
    const { garden, world } = actor;
    const plantIds = plants && [...new Set(plants.flatMap((one) => actor.id('plants', one) ?? []))];
    if (plantIds?.length === 0) return;
    const body = {
      ...(plantIds ? { plantIds } : { location }),
      type,
      ...(daysAgo === null
        ? {}
        : { occurredAt: new Date(world.base - daysAgo * 86_400_000).toISOString() }),
    };
    const { status, body: answer } = await actor.expectAll('POST', '/api/events', body, (madeOf) =>
      garden.logCare(body, madeOf),
    );
    if (status !== 201) return;
    for (const { id } of records(record(answer)['items'])) world.known.events.push(String(id));
  },
);

const deleteEvents = command('delete events', someOf(reference), async (actor, targets) => {
  const eventIds = [...new Set(targets.flatMap((one) => actor.id('events', one) ?? []))];
  if (eventIds.length === 0) return;
  await actor.expect('POST', '/api/events/delete', { eventIds }, () =>
    actor.garden.deleteEvents(eventIds),
  );
});

const restoreEvent = command('restore event', fc.nat(99), async (actor, pick) => {
  const { garden, world } = actor;
  const deleted = [...garden.deletedEvents.keys()];
  // Mostly a deleted one.
  const ids = deleted.length > 0 && pick % 5 > 0 ? deleted : world.known.events;
  const id = ids[pick % ids.length];
  if (id === undefined) return;
  await actor.expect('POST', `/api/events/${id}/restore`, undefined, () => garden.restoreEvent(id));
});

const deletePhoto = commandOn('delete photo', 'photos', fc.constant(null), (actor, id) =>
  actor.expect('DELETE', `/api/photos/${id}`, undefined, () => actor.garden.deletePhoto(id)),
);

const changeZone = command(
  'change the time zone',
  fc.constantFrom('Pacific/Kiritimati', 'America/St_Johns', 'Pacific/Pago_Pago', 'Asia/Kathmandu'),
  async (actor, timezone) => {
    const { status, body } = await actor.send('PATCH', '/api/account', { timezone });
    same({ status, timezone: record(body)['timezone'] }, { status: 200, timezone }, 'the zone');
    actor.garden.account.timezone = timezone;
    await expectInsights(actor);
  },
);

const snooze = commandOn(
  'snooze',
  'plants',
  fc.record({
    type: fc.constantFrom(...CARE_TYPES),
    // null removes a snooze.
    days: fc.option(fc.integer({ min: 2, max: 364 }), { freq: 4 }),
  }),
  async (actor, id, { type, days }) => {
    // A malformed id in a body is a validation error.
    if (id.startsWith('no-id')) return;
    const { garden } = actor;
    // Not the first and last valid days, since midnight may pass before the response.
    const setAt = new Date().toISOString();
    const until = days === null ? null : dayAfter(dayOf(setAt, garden.account.timezone), days);
    const sent = { plantId: id, type, until };
    const { status, body } = await actor.send('POST', '/api/care/snooze', sent);
    const what = `POST /api/care/snooze ${JSON.stringify(sent)}`;
    const plant = garden.plants.get(id);
    const item = plant && careItemOf(garden, plant, type, new Date());
    if (!plant || !item) {
      const code = plant ? 'validation_error' : 'plant_not_found';
      same({ status, code: record(body)['code'] }, { status: 400, code }, what);
      return;
    }
    if (until === null) garden.snoozes.delete(`${id} ${type}`);
    else garden.snoozes.set(`${id} ${type}`, { until, setAt });
    same(status, 200, what);
    const { daysOverdue, ...rest } = record(body);
    expect(daysOverdue).toEqual(expect.any(Number));
    const wanted = record(careItemOf(garden, plant, type, new Date()));
    same({ ...rest, daysOverdue: wanted['daysOverdue'] }, wanted, what);
  },
);

/** Compares the care that is due by a day; midnight may pass meanwhile. */
export async function expectDueCare(actor: Actor, dueBy = '9999-12-31'): Promise<void> {
  const before = new Date();
  const { status, body } = await actor.get(`/api/care?dueBy=${dueBy}`);
  same(status, 200, 'GET /api/care');
  try {
    same(body, dueCareOf(actor.garden, dueBy, before), 'GET /api/care');
  } catch {
    same(body, dueCareOf(actor.garden, dueBy, new Date()), 'GET /api/care');
  }
}

/** Not with each command, since it reads everything. */
const syncCopy = command('sync the copy', fc.constant(null), (actor) => actor.expectCopy());

const readDueCare = command(
  'read due care',
  fc.integer({ min: -400, max: 400 }),
  async (actor, days) => {
    const now = new Date().toISOString();
    await expectDueCare(actor, dayAfter(dayOf(now, actor.garden.account.timezone), days));
  },
);

/** Commands beyond the specification: due care, bulk logs, undo, and what changes due days. */
export const careCommands = [
  logCare,
  deleteEvents,
  restoreEvent,
  deletePhoto,
  changeZone,
  snooze,
  readDueCare,
  syncCopy,
] as const;
