import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { Client } from '../support/client';
import type { TestService, TestUser } from '../support/service';
import { listOf } from '../support/shapes';
import { exportedParts, listsOf, withoutIds } from '../support/whole-garden';
import { differencesOf, gardenOf, startService } from '../support/program';

const SCRIPT = path.resolve(__dirname, '../../examples/garden-move/move.js');

let service: TestService;
let running: ChildProcess | undefined;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  running?.kill('SIGKILL');
  await service.close();
});

/**
 * Runs the script until it has copied so many parts, then kills it; without a number until its end.
 *
 * @param onPart is called after each part, before the script goes on with the one after the next
 */
async function run(
  [from, to]: readonly [TestUser, TestUser],
  {
    parts = Infinity,
    onPart = () => Promise.resolve(),
  }: { parts?: number; onPart?: () => Promise<void> },
): Promise<{ copied: number; code: number | null }> {
  const env = { ...process.env, FROM_TOKEN: from.token, TO_TOKEN: to.token };
  const child = spawn(process.execPath, [SCRIPT, service.url], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running = child;
  const ended = once(child, 'close');
  let copied = 0;
  for await (const _ of createInterface(child.stdout)) {
    copied += 1;
    if (copied >= parts) child.kill('SIGKILL');
    await onPart();
  }
  const [code] = (await ended) as [number | null];
  return { copied, code };
}

const inDays = (days: number): string =>
  new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);

const image = (at: number) => ({
  imagehostPublicId: `plants/${at}`,
  secureUrl: `https://images.example.com/${at}.jpg`,
  width: 800,
  height: 600,
  format: 'jpg',
});

/** A plant of an import; each fiftieth has 60 events. */
function plantOf(at: number) {
  const [photoId, scheduleId] = [randomUUID(), randomUUID()];
  const moment = (hours: number): string =>
    new Date(Date.UTC(2026, 0, 1) - hours * 3_600_000).toISOString();
  return {
    name: `Plant ${at}`,
    location: `Room ${at % 7}`,
    notes: at % 10 === 0 ? 'Ä "quoted"\n🌿'.repeat(50) : '',
    wateringFrequencyDays: 7,
    primaryPhotoId: photoId,
    ...(at % 20 === 0 && { archivedAt: moment(1), archiveReason: 'given_away' }),
    photos: [{ ...image(at), id: photoId }],
    schedules: [{ id: scheduleId, care: 'other', label: 'Mist', weekdays: ['mon', 'thu'] }],
    events: Array.from({ length: at % 50 === 1 ? 60 : 0 }, (_, event) => ({
      type: ['watered', 'fertilized', 'note', 'growth'][event % 4],
      ...(event % 4 === 3 && { growthAmount: 0.5, growthUnit: 'cm' }),
      ...(event % 4 === 2 && { scheduleId, text: `Event ${event} of plant ${at}` }),
      ...(event % 9 === 0 && { photoIds: [photoId] }),
      // Plants are cared for together, so that ids decide on the order.
      occurredAt: moment(event * 12),
    })),
  };
}

/** More plants and more events than two imports take, with photos, schedules, snoozes and skips. */
async function largeGarden(): Promise<TestUser> {
  const user = await service.user();
  await gardenOf(user);
  for (const [first, length] of [
    [0, 500],
    [500, 20],
  ] as const) {
    const plants = Array.from({ length }, (_, at) => plantOf(first + at));
    await user.post('/api/import', { plants }).expect(201);
  }
  // A plant whose events span parts.
  const id = randomUUID();
  for (const part of [1, 2]) {
    const events = Array.from({ length: 2600 }, (_, at) => ({
      id: randomUUID(),
      occurredAt: new Date(Date.UTC(2026, 0, part) - at * 60_000).toISOString(),
    }));
    const plants = [{ id, name: 'Oak', events }];
    await user.post('/api/import', { part, parts: 2, plants }).expect(201);
  }
  const [first, second, ...others] = listOf(await user.get('/api/plants'));
  if (!first || !second) throw new Error('There are no plants.');
  const ofLater = await user.photo({ plantId: others.at(-1)?.id });
  await user.patch(`/api/plants/${first.id}`, { primaryPhotoId: ofLater.id }).expect(200);
  await user.event(second.id, { photoIds: [ofLater.id] });
  const care = { plantIds: others.slice(0, 50).map(({ id }) => id), type: 'watered' };
  await user.post('/api/care/skip', care).expect(200);
  const snoozed = { ...care, plantIds: others.slice(50, 100).map(({ id }) => id) };
  await user.post('/api/care/snooze', { ...snoozed, until: inDays(5) }).expect(200);
  const [misting] = listOf(await user.get(`/api/plants/${others[200]?.id ?? ''}/schedules`));
  const mist = { plantId: others[200]?.id, scheduleId: misting?.id };
  await user.post('/api/care/snooze', { ...mist, until: inDays(9) }).expect(200);
  return user;
}

test('the example copies a garden of any size exactly, however often it is killed', async () => {
  const [from, to] = [await largeGarden(), await service.user()];
  const source = new Client(service.url, from.token);
  const target = new Client(service.url, to.token);
  for (const parts of [1, 2])
    expect(await run([from, to], { parts })).toMatchObject({ code: null });
  // What is written meanwhile is copied as well, wherever it is in the order of parts.
  const [first] = listOf(await from.get('/api/plants'));
  let copied = 0;
  const ended = await run([from, to], {
    onPart: async () => {
      copied += 1;
      if (copied === 2) await from.event(first?.id ?? '', { text: 'Meanwhile' });
    },
  });
  expect(ended.code).toBe(0);
  const parts = await exportedParts(source);
  expect(parts.length).toBeGreaterThan(2);
  const textOf = (all: object[]) => withoutIds(JSON.stringify(all));
  expect(textOf(await exportedParts(target))).toBe(textOf(parts));
  expect(await listsOf(target, to.id)).toEqual(await listsOf(source, from.id));
  expect(await differencesOf(service.app, to.id)).toEqual([]);
  source.close();
  target.close();
});

test('the example ends with the error of the API', async () => {
  const [from, to] = [await service.user(), await service.user({ scopes: ['plants:read'] })];
  expect(await run([from, to], {})).toEqual({ copied: 0, code: 1 });
});
