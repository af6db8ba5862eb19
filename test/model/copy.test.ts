import fc from 'fast-check';

import { DAY_MS } from '../../src/core/time';
import { Client, record, type Reply } from '../support/client';
import { Copy, listed } from '../support/copy';
import type { TestService } from '../support/service';
import { demoPlugin, startService } from '../support/program';

/** How long to search; each run has another seed, and a longer search is sometimes worthwhile. */
const SEARCH_MS = Number(process.env['MODEL_SECONDS'] ?? 2) * 1000;

let service: TestService;
let twin: TestService;

beforeAll(async () => {
  service = await startService();
  // For the database, another process.
  twin = await startService({ mongodbUri: service.mongodbUri });
});
afterAll(async () => {
  await twin.close();
  await service.close();
});

const ZONES = ['Pacific/Kiritimati', 'America/St_Johns', 'Pacific/Pago_Pago', 'Asia/Kathmandu'];
const MONTHS = { months: [3, 4, 5, 11] };
const RULES = [
  { everyDays: 3 },
  { everyDays: 7, seasons: [{ from: '11-01', to: '02-28', everyDays: 0 }] },
  { everyDays: 2, seasons: [{ from: '02-29', to: '08-31', everyDays: 30 }], months: [1, 2, 7, 12] },
  { weekdays: ['mon', '-1thu'] },
  { monthDays: [1, -1] },
];

/** A write of any kind, to records that `pick` chooses among all that ever existed. */
const anyWrite = fc.record({
  kind: fc.constantFrom(
    ...(['plant', 'photo', 'event', 'event', 'event', 'event of a photo'] as const),
    ...(['change plant', 'change event', 'crop', 'crop'] as const),
    ...(['delete event', 'delete event', 'delete plant'] as const),
    ...(['schedule', 'schedule', 'change schedule', 'change schedule', 'delete schedule'] as const),
    ...(['snooze', 'snooze', 'snooze schedule', 'snooze all', 'skip', 'skip schedule'] as const),
    ...(['done', 'archive', 'unarchive', 'import', 'zone'] as const),
  ),
  pick: fc.nat(1000),
});
type Write = typeof anyWrite extends fc.Arbitrary<infer T> ? T : never;

/** The first writes of each device, so that there is something to change. */
const FIRST = ['plant', 'photo', 'plant', 'schedule', 'event', 'schedule'] as const;

/** The ids of all records that the account ever had. */
class Known {
  readonly plants: string[] = [];
  readonly events: string[] = [];
  readonly photos: string[] = [];
  readonly schedules: string[] = [];
  /** The plants of schedules, by the ids of the schedules. */
  readonly plantOf = new Map<string, string>();
}

async function write(client: Client, known: Known, { kind, pick }: Write): Promise<void> {
  const one = (ids: readonly string[]) => ids[pick % Math.max(1, ids.length)] ?? 'none';
  const [plant, event, photo] = [one(known.plants), one(known.events), one(known.photos)];
  const schedule = one(known.schedules);
  const ofSchedule = { plantId: known.plantOf.get(schedule), scheduleId: schedule };
  const type = pick % 2 === 0 ? 'watered' : 'fertilized';
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const until = pick % 5 === 0 ? null : inDays(2 + (pick % 300));
  const make = async (ids: string[], path: string, body: object) => {
    const reply = await client.send('POST', path, { body });
    if (reply.status === 201) ids.push(String(record(reply.body)['id']));
    return reply;
  };
  const post = (path: string, body?: object) => client.send('POST', path, { body });
  const change = (path: string, body: object) => client.send('PATCH', path, { body });
  const image = { width: 800, height: 600, format: 'jpg', imagehostPublicId: 'fern' };
  const photoIds = photo === 'none' ? [] : [photo];
  const moment = new Date(Date.UTC(2026, 0, 1) + pick * 60_000).toISOString();
  const cared = { name: `Fern ${pick}`, wateringFrequencyDays: 5, fertilizerFrequencyDays: 9 };
  const rule = { care: pick % 3 === 0 ? 'fertilized' : 'watered', ...RULES[pick % RULES.length] };
  const work: Record<Write['kind'], () => Promise<Reply>> = {
    plant: () => make(known.plants, '/api/plants', { ...cared, primaryPhotoId: photoIds[0] }),
    photo: () =>
      make(known.photos, '/api/photos', {
        ...image,
        secureUrl: `https://images.example.com/${pick}.jpg`,
        plantId: plant === 'none' ? undefined : plant,
      }),
    event: () => make(known.events, `/api/plants/${plant}/events`, { occurredAt: moment }),
    'event of a photo': () => make(known.events, `/api/plants/${plant}/events`, { photoIds }),
    'change plant': () =>
      change(`/api/plants/${plant}`, { notes: `${pick}`, primaryPhotoId: photoIds[0] ?? null }),
    'change event': () => change(`/api/events/${event}`, { occurredAt: moment }),
    crop: () => change(`/api/photos/${photo}`, { x: pick % 90, y: 0, width: 100, height: 100 }),
    'delete event': () => client.send('DELETE', `/api/events/${event}`),
    'delete plant': () => client.send('DELETE', `/api/plants/${plant}`),
    schedule: async () => {
      const reply = await make(known.schedules, `/api/plants/${plant}/schedules`, rule);
      if (reply.status === 201) known.plantOf.set(String(record(reply.body)['id']), plant);
      return reply;
    },
    'change schedule': () =>
      change(`/api/schedules/${schedule}`, pick % 2 === 0 ? { active: pick % 4 === 0 } : MONTHS),
    'delete schedule': () => client.send('DELETE', `/api/schedules/${schedule}`),
    snooze: () => post('/api/care/snooze', { plantId: plant, type, until }),
    'snooze schedule': () => post('/api/care/snooze', { ...ofSchedule, until }),
    'snooze all': () => post('/api/care/snooze', { all: true, type, until }),
    skip: () => post('/api/care/skip', { plantId: plant, type }),
    'skip schedule': () => post('/api/care/skip', ofSchedule),
    done: () => post('/api/care/done', ofSchedule),
    archive: () => post(`/api/plants/${plant}/archive`, { reason: 'died' }),
    unarchive: () => post(`/api/plants/${plant}/unarchive`),
    import: () =>
      post('/api/import', {
        plants: [
          { ...cared, schedules: [rule], events: [{ type: 'watered', occurredAt: moment }] },
          { name: 'Gone', archivedAt: moment, archiveReason: 'sold', events: [{ type: 'note' }] },
        ],
      }),
    zone: () => change('/api/account', { timezone: ZONES[pick % ZONES.length] }),
  };
  await work[kind]();
}

/** Compares a copy with the lists. */
async function expectEqual(copy: Copy, client: Client, known: Known): Promise<void> {
  const { snoozes: listedSnoozes, ...lists } = await listed(client, known.photos);
  const { snoozes, ...contents } = copy.contents;
  expect(contents).toEqual(lists);
  // Lists show only snoozes of active care; copies also those of inactive care.
  expect(snoozes).toEqual(expect.arrayContaining(listedSnoozes));
}

test(
  'a copy built from changes alone equals the lists, whatever two processes write meanwhile',
  async () => {
    const end = Date.now() + SEARCH_MS;
    const lane = fc.array(anyWrite, { minLength: 8, maxLength: 16, size: 'max' });
    const rounds = fc.array(fc.tuple(lane, lane, lane, lane), { minLength: 2, maxLength: 3 });
    const limits = fc.infiniteStream(fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(500)));
    const gardens = fc.tuple(rounds, rounds, rounds);
    const equalAlways = fc.asyncProperty(gardens, limits, async (histories, limit) => {
      const nextLimit = (): number => limit.next().value as number; // The generator never ends.
      await Promise.all(histories.map((history) => oneUser(history, nextLimit)));
    });
    let seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);
    do {
      try {
        await fc.assert(equalAlways, { seed, numRuns: 1, endOnFailure: true });
      } catch (error) {
        throw new Error(`To see it again set MODEL_SEED=${seed}.`, { cause: error });
      }
      seed += 1;
    } while (Date.now() < end);
  },
  120_000 + SEARCH_MS,
);

/** Two devices of a user write and keep copies, each through a process of its own. */
async function oneUser(
  history: readonly (readonly (readonly Write[])[])[],
  nextLimit: () => number,
): Promise<void> {
  const { token } = await service.user();
  const devices = [service.url, twin.url].map((url) => ({
    client: new Client(url, token),
    copy: new Copy(),
  }));
  const known = new Known();
  for (const [pick, kind] of FIRST.entries()) {
    for (const { client } of devices) await write(client, known, { kind, pick });
  }
  for (const lanes of history) {
    const state = { isWriting: true };
    const writers = Promise.all(
      lanes.map(async (writes, index) => {
        const device = devices[index % devices.length];
        for (const each of writes) if (device) await write(device.client, known, each);
      }),
    ).finally(() => {
      state.isWriting = false;
    });
    // While both write.
    const readers = devices.map(async ({ client, copy }) => {
      while (state.isWriting) await copy.step(client, nextLimit());
    });
    await Promise.all([writers, ...readers]);
    for (const { client, copy } of devices) {
      await copy.sync(client, nextLimit);
      await expectEqual(copy, client, known);
      // A new copy is the same.
      const fresh = new Copy();
      await fresh.sync(client, nextLimit);
      expect(fresh.contents).toEqual(copy.contents);
    }
  }
  for (const { client } of devices) client.close();
}

test('after a bulk load, a copy starts again', async () => {
  const user = await service.user();
  const client = new Client(service.url, user.token);
  const copy = new Copy();
  await user.plant();
  await copy.sync(client);
  const bar = { advance: () => undefined, stop: () => undefined };
  const garden = service.app.exportsOf(demoPlugin);
  await garden.write({ user: user.id, plants: 3, events: 50, seed: 1 }, bar);
  const { body } = await client.send('GET', `/api/changes?since=${copy.cursor ?? ''}`);
  expect(record(body)['code']).toBe('cursor_expired');
  const anew = new Copy();
  await anew.sync(client, () => 7);
  expect(anew.events.size).toBe(50);
  expect(anew.contents).toEqual(await listed(client, [...anew.photos.keys()]));
  client.close();
});
