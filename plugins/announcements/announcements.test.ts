import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { resetClock, setClock } from '../../test/support/clock';
import type { TestService, TestUser } from '../../test/support/service';
import { expectError, listOf } from '../../test/support/shapes';
import { loadSeeds, startService } from '../../test/support/program';

const NOW = Date.parse('2026-03-15T12:00:00.000Z');

let service: TestService;
let user: TestUser;
let serial = 0;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  // What is announced is the same for everybody, so each test starts from nothing.
  await service.app.database.connection.collection('announcements').deleteMany({});
  setClock(NOW);
  user = await service.user({ scopes: [] });
});
afterEach(resetClock);
afterAll(() => service.close());

function announcement(fields: object = {}) {
  serial += 1;
  return {
    id: `00000000-0000-4000-8000-${String(serial).padStart(12, '0')}`,
    textEn: 'Spring is here',
    textFr: 'Le printemps est là',
    linkUrl: null,
    linkTextEn: null,
    linkTextFr: null,
    active: true,
    startDate: null,
    endDate: null,
    ...fields,
  };
}

/** Loads announcements as operators do: from a file of a folder of seeds. */
async function load(...announcements: ReturnType<typeof announcement>[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'seeds-'));
  try {
    await writeFile(path.join(folder, 'announcements.json'), JSON.stringify(announcements));
    return (await loadSeeds(service.app, folder))['announcements'];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function shown(): Promise<unknown[]> {
  return listOf(await user.get('/api/announcements').expect(200));
}

test('the list can be empty', async () => {
  expect(await shown()).toEqual([]);
});

test('an announcement has every field, null if it is not set', async () => {
  const bare = announcement();
  await load(bare);
  expect(await shown()).toEqual([bare]);
});

test('an announcement is shown with its link and dates as instants', async () => {
  const full = announcement({
    linkUrl: 'https://example.com/spring?x=1',
    linkTextEn: 'More',
    linkTextFr: 'Plus',
    startDate: new Date(NOW - 1),
    endDate: new Date(NOW + 1),
  });
  await load(full);
  expect(await shown()).toEqual([
    { ...full, startDate: '2026-03-15T11:59:59.999Z', endDate: '2026-03-15T12:00:00.001Z' },
  ]);
});

test.each<[string, object, boolean]>([
  ['switched on, without dates', {}, true],
  ['switched off', { active: false }, false],
  ['switched off within its dates', { active: false, startDate: new Date(NOW - 1) }, false],
  ['beginning now', { startDate: new Date(NOW) }, true],
  ['beginning in a millisecond', { startDate: new Date(NOW + 1) }, false],
  ['over in a millisecond', { endDate: new Date(NOW + 1) }, true],
  ['over for a millisecond', { endDate: new Date(NOW - 1) }, false],
  ['begun and not over', { startDate: new Date(NOW - 1), endDate: new Date(NOW + 1) }, true],
])('an announcement that is %s is shown only if it is active', async (_what, fields, isShown) => {
  await load(announcement(fields));
  expect(await shown()).toHaveLength(isShown ? 1 : 0);
});

test('announcements come and go as time passes', async () => {
  await load(announcement({ startDate: new Date(NOW + 1000), endDate: new Date(NOW + 2000) }));
  for (const [later, count] of [
    [0, 0],
    [1000, 1],
    [1999, 1],
    [2001, 0],
  ] as const) {
    setClock(NOW + later);
    expect(await shown()).toHaveLength(count);
  }
});

test('everybody sees the same, with any valid token and no scope', async () => {
  await load(announcement(), announcement());
  const other = await service.user({ tier: 'free', scopes: ['insights:read'] });
  const [mine, theirs] = [await shown(), listOf(await other.get('/api/announcements'))];
  expect(mine).toHaveLength(2);
  expect(theirs).toEqual(mine);
});

test('announcements require a token', async () => {
  expectError(await service.anonymous.get('/api/announcements'), 401, 'unauthorized');
});

test('loading an announcement again updates it', async () => {
  const first = announcement();
  expect(await load(first)).toBe(1);
  const changed = { ...first, textEn: 'Spring is over', linkUrl: null };
  expect(await load(changed, announcement({ active: false }))).toBe(1);
  expect(await shown()).toEqual([changed]);
});
