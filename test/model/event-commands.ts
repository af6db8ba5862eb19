import fc from 'fast-check';

import { records, record } from '../support/client';
import { type Actor, same, type Target } from './actor';
import { commandOn, reference, words } from './command';
import { byText } from './insights';
import type { CareEvent } from './records';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** When an event occurred, in minutes after the shared moment; undefined for now. The days a year ago are
 * left out, since the specification is ambiguous there (do the last 365 days include today?).
 */
const offset = fc.oneof(
  fc.constant(undefined),
  { weight: 3, arbitrary: fc.integer({ min: -4, max: 0 }).map((days) => days * DAY_MINUTES) },
  { weight: 3, arbitrary: fc.constant(0) },
  fc.integer({ min: -3 * DAY_MINUTES, max: 0 }),
  fc.integer({ min: -350 * DAY_MINUTES, max: 0 }),
  fc.integer({ min: -9000 * DAY_MINUTES, max: -380 * DAY_MINUTES }),
  fc.integer({ min: 1, max: DAY_MINUTES - 60 }),
);

/** The same moment with any offset, and with more digits than are stored. */
const style = fc.record({
  zone: fc.constantFrom(0, 330, -210, 840, -720),
  digits: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom('.5', '.123999')),
});

function written(
  base: number,
  minutes: number,
  { zone, digits }: { zone: number; digits: string },
): string {
  const local = new Date(base + (minutes + zone) * MINUTE_MS).toISOString().slice(0, 19);
  const two = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(zone);
  const suffix = `${zone < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${local}${digits}${zone === 0 ? 'Z' : suffix}`;
}

const amount = fc.integer({ min: 1, max: 5000 }).map((hundredths) => hundredths / 100);
const growth = fc.option(
  fc.record({ growthAmount: amount, growthUnit: fc.constantFrom('cm', 'in') }),
  { nil: {} },
);

const photoTargets = fc.option(
  fc.uniqueArray(reference, { maxLength: 4, selector: ({ pick }) => pick }),
  { nil: undefined },
);

function photoIds(actor: Actor, targets: readonly Target[] | undefined): object {
  if (!targets) return {};
  return { photoIds: [...new Set(targets.flatMap((one) => actor.id('photos', one) ?? []))] };
}

const createEvent = commandOn(
  'create event',
  'plants',
  fc.record({
    kind: fc.oneof(
      fc.constantFrom(
        ...[{}, { type: 'watered' }, { isJournal: true }, { isJournal: false }],
        ...[
          { type: 'journal', isJournal: true },
          { type: 'note', isJournal: false },
        ],
        ...[{ type: 'fertilized' }, { type: 'repotted' }, { type: 'soil_change' }],
        // Often, since fertilizing has due days.
        ...[{ type: 'fertilized' }, { type: 'fertilized' }, { type: 'fertilized' }],
      ),
      growth.map((measured) => ({ type: 'growth', ...measured })),
    ),
    facts: fc.record({ text: words(2000) }, { requiredKeys: [] }),
    offset,
    style,
    photos: photoTargets,
    again: fc.boolean(),
  }),
  async (actor, id, { kind, facts, offset: minutes, style: form, photos, again }) => {
    const body = {
      ...kind,
      ...facts,
      ...(minutes === undefined ? {} : { occurredAt: written(actor.world.base, minutes, form) }),
      // The order of errors for an unknown plant and an unknown photo is unspecified.
      ...photoIds(actor, actor.owns('plants', id) ? photos : undefined),
    };
    await actor.create('events', `/api/plants/${id}/events`, body, again, (made) =>
      actor.garden.createEvent(id, body, made),
    );
  },
);

const updateEvent = commandOn(
  'update event',
  'events',
  fc.record({
    facts: fc.record({ text: fc.option(words(2000)) }, { requiredKeys: [] }),
    growth,
    offset,
    style,
    photos: photoTargets,
  }),
  (actor, id, { facts, growth: measured, offset: minutes, style: form, photos }) => {
    const isOwn = actor.owns('events', id);
    const body = {
      ...facts,
      // The meaning of an amount in other types of events is unspecified.
      ...(actor.garden.events.get(id)?.type === 'growth' ? measured : {}),
      ...(minutes === undefined ? {} : { occurredAt: written(actor.world.base, minutes, form) }),
      ...photoIds(actor, isOwn ? photos : undefined),
    };
    return actor.expect('PATCH', `/api/events/${id}`, body, (made) =>
      actor.garden.updateEvent(id, body, made),
    );
  },
);

const deleteEvent = commandOn('delete event', 'events', fc.constant(null), (actor, id) =>
  actor.expect('DELETE', `/api/events/${id}`, undefined, () => actor.garden.deleteEvent(id)),
);

/** The parts of a page; wrong types fail when they are used. */
function page(body: unknown) {
  const { items, hasMore, nextCursor } = record(body);
  return { items: records(items), hasMore, nextCursor: nextCursor as string | null };
}

/** Reads a list page by page without other writes, and compares all of it. */
export async function expectEvents(actor: Actor, id: string, limit?: number): Promise<void> {
  const path = `/api/plants/${id}/events${limit === undefined ? '' : `?limit=${limit}`}`;
  const answer = actor.garden.listEvents(id);
  const listed: unknown[] = [];
  for (let cursor = ''; ;) {
    const glue = path.includes('?') ? '&' : '?';
    const { status, body } = await actor.get(
      cursor === '' ? path : `${path}${glue}cursor=${cursor}`,
    );
    if (status !== 200) {
      same({ status, code: record(body)['code'] }, answer, `GET ${path}`);
      return;
    }
    const { items, hasMore, nextCursor } = page(body);
    listed.push(...items);
    same(hasMore, nextCursor !== null, `GET ${path}: hasMore`);
    if (nextCursor === null) break;
    same(items.length, limit ?? 15, `GET ${path}: the length of a page`);
    cursor = nextCursor;
  }
  same({ status: 200, body: listed }, answer, `GET ${path}, all pages`);
}

const listEvents = commandOn(
  'list events',
  'plants',
  fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  (actor, id, limit) => expectEvents(actor, id, limit),
);

/** When an event was last changed, to recognize those that were not moved. */
const versions = (events: readonly CareEvent[]) =>
  new Map(events.map(({ id, updatedAt }) => [id, updatedAt]));

const walkOn = commandOn(
  'read one more page',
  'plants',
  fc.integer({ min: 1, max: 3 }),
  async (actor, id, limit) => {
    const plantId = actor.walk?.plantId ?? id;
    const events = actor.garden.eventsOf(plantId);
    const walk = (actor.walk ??= {
      plantId,
      limit,
      cursor: '',
      seen: [],
      atStart: versions(events),
    });
    const cursor = walk.cursor === '' ? '' : `&cursor=${walk.cursor}`;
    const path = `/api/plants/${plantId}/events?limit=${walk.limit}${cursor}`;
    const { status, body } = await actor.get(path);
    if (!actor.owns('plants', plantId)) actor.walk = undefined;
    same(status, actor.walk ? 200 : 404, path);
    if (!actor.walk) return;
    const { items, nextCursor } = page(body);
    walk.seen.push(...items.map(({ id }) => String(id)));
    walk.cursor = nextCursor ?? '';
    if (nextCursor !== null) return;
    actor.walk = undefined;
    const now = versions(events);
    const stayed = [...walk.atStart.keys()].filter((id) => now.get(id) === walk.atStart.get(id));
    const seen = walk.seen.filter((id) => stayed.includes(id));
    same(seen.sort(), stayed.sort(), `${path}: events that were there throughout, each once`);
  },
);

const readMonth = commandOn(
  'read month',
  'plants',
  fc.record({
    event: fc.nat(99),
    before: fc.oneof(fc.constant(0), fc.nat(200)),
    after: fc.oneof(fc.constant(0), fc.nat(166)),
  }),
  async (actor, id, { event, before, after }) => {
    const events = actor.garden.eventsOf(id);
    const one = events[event % events.length];
    const middle = one ? Date.parse(one.occurredAt) : actor.world.base;
    // Both bounds are included, so a range of one moment finds the events of that moment.
    const start = middle - before * DAY_MINUTES * MINUTE_MS;
    const end = middle + after * DAY_MINUTES * MINUTE_MS;
    const path = `/api/plants/${id}/events/month?monthStart=${start}&monthEnd=${end}`;
    const answer = actor.garden.month(id, start, end);
    const { status, body } = await actor.get(path);
    if ('code' in answer) {
      same({ status, code: record(body)['code'] }, answer, path);
      return;
    }
    // The order within a month is unspecified.
    const sorted = (list: unknown) => records(list).sort(byText);
    same({ status, body: sorted(body) }, { status: 200, body: sorted(answer.body) }, path);
  },
);

/** Commands on events; those that create or change one come first. */
export const eventCommands = [
  createEvent,
  updateEvent,
  deleteEvent,
  listEvents,
  walkOn,
  readMonth,
] as const;
