import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DAY_MS } from '../../src/core/time';
import { jsonSchemaOf } from '../../src/fields/json-schema';
import type { TestService } from '../support/service';
import { record, records } from '../support/client';
import {
  dayIn,
  idOf,
  keyOf,
  keysOf,
  listed,
  LONG_NOTE,
  pageOf,
  pagesOf,
  storeGarden,
} from './pages';
import { assistant, type Assistant, callTool, listTools, refused } from './support';
import { loadSeeds, startService, toolRows } from '../support/program';

const NOW = Date.now();

let service: TestService;
beforeAll(async () => {
  service = await startService();
  await announce(30);
});
afterAll(() => service.close());

async function announce(count: number): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'seeds-'));
  const announcements = Array.from({ length: count }, (_, index) => ({
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    textEn: `News ${index}: ${'word '.repeat(100)}`,
    textFr: 'Nouvelles',
  }));
  await writeFile(path.join(folder, 'announcements.json'), JSON.stringify(announcements));
  await loadSeeds(service.app, folder);
  await rm(folder, { recursive: true });
}

const monthStart = NOW - 30 * DAY_MS;
const monthEnd = NOW + DAY_MS;
/** A list of the tool, and its address over REST. */
const LISTS: [tool: string, given: object, address: (id: string) => string][] = [
  ['list_plants', {}, () => '/api/plant-summaries?'],
  ['list_plants', { view: 'full' }, () => '/api/plants?'],
  ['list_plants', { sort: 'name' }, () => '/api/plants?sort=name'],
  ['list_locations', {}, () => '/api/locations'],
  ['list_due_care', {}, () => '/api/care?'],
  ['list_due_care', { to: dayIn(7) }, () => `/api/care?to=${dayIn(7)}`],
  ['list_events', {}, (of) => `/api/plants/${of}/events?`],
  [
    'list_month_events',
    { monthStart, monthEnd },
    (of) => `/api/plants/${of}/events/month?monthStart=${monthStart}&monthEnd=${monthEnd}`,
  ],
  ['search_events', {}, () => '/api/events?'],
  ['search_events', { q: '1 bought' }, () => '/api/events?q=1%20bought'],
  ['search_events', { sort: 'createdAt' }, () => '/api/events?sort=createdAt'],
  ['list_schedules', {}, (of) => `/api/plants/${of}/schedules`],
  ['list_photos', {}, () => '/api/photos?'],
  ['list_announcements', {}, () => '/api/announcements'],
  ['list_chores', {}, () => '/api/chores'],
];

/** The arguments of a call, with the id of a plant if the tool takes one. */
function givenTo(name: string, given: object, id: string): object {
  const [, operation] = toolRows().find(([each]) => each === name) ?? [];
  return operation?.params ? { id, ...given } : given;
}

/** A garden with many records of each kind, and its plant that has most of them. */
async function gardenOf(plants: number): Promise<{ caller: Assistant; id: string }> {
  const caller = await assistant(service);
  const id = idOf((await storeGarden(service, caller, plants))[0]);
  const { user } = caller;
  const times = <T>(count: number, make: (index: number) => PromiseLike<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index)));
  await times(60, (index) => {
    const occurredAt = new Date(NOW - index * 60_000).toISOString();
    return user.event(id, { type: 'note', text: `${index} ${LONG_NOTE}`, occurredAt });
  });
  await times(40, () => user.photo());
  await times(20, async (index) => {
    const mist = { care: 'other', label: `Mist ${index}`, everyDays: 3 };
    await user.post(`/api/plants/${id}/schedules`, mist).expect(201);
    const chore = { title: `Turn ${index}`, everyDays: 3 };
    await user.post('/api/chores', chore).expect(201);
  });
  return { caller, id };
}

/** Adds a plant, an event and a photo, changes a plant, and deletes one of each. */
async function disturb({ user }: Assistant, id: string, step: number): Promise<void> {
  const idsOf = async (address: string) => (await listed({ user }, address)).map(idOf);
  const events = await idsOf(`/api/plants/${id}/events?`);
  const photos = await idsOf('/api/photos?');
  const plants = await idsOf('/api/plant-summaries?');
  await Promise.all([
    user.plant({ name: 'Newcomer', location: 'Attic' }),
    user.event(id, { type: 'note', text: `11 ${LONG_NOTE}` }),
    user.photo(),
    user.patch(`/api/plants/${plants[step * 3 + 2]}`, { notes: 'Moved' }).expect(200),
    user.delete(`/api/plants/${plants[step * 3 + 1]}`).expect(200),
    user.delete(`/api/events/${events[step * 4]}`).expect(200),
    user.delete(`/api/photos/${photos[step * 4]}`).expect(200),
  ]);
}

describe.each([
  [30, [1]],
  [300, [25, 100, undefined]],
])('of a garden of %i plants with long notes', (plants, limits) => {
  let caller: Assistant;
  let id: string;
  beforeAll(async () => {
    ({ caller, id } = await gardenOf(plants));
  });

  test.each(LISTS.flatMap((list) => limits.map((limit) => [...list, limit] as const)))(
    '%s %j shows each item once, in order, while another client writes',
    async (name, given, address, limit) => {
      const before = new Set((await listed(caller, address(id))).map(keyOf));
      let steps = 0;
      const pages = await pagesOf(
        caller,
        name,
        { ...givenTo(name, given, id), limit },
        async () => {
          // Else a list to which each step adds an item would have no end.
          if (steps < 3) await disturb(caller, id, steps);
          steps += 1;
        },
      );
      const after = (await listed(caller, address(id))).map(keyOf);
      const keys = keysOf(pages);
      expect(new Set(keys).size).toBe(keys.length);
      const stable = after.filter((key) => before.has(key));
      const isStable = new Set(stable);
      expect(keys.filter((key) => isStable.has(key))).toEqual(stable);
      expect(stable.length).toBeGreaterThan(10);
      for (const { items } of pages) expect(items.length).toBeLessThanOrEqual(limit ?? 25);
    },
  );
});

describe('a garden of 300 plants', () => {
  let caller: Assistant;
  let id: string;
  beforeAll(async () => {
    ({ caller, id } = await gardenOf(300));
  });

  test('every tool that returns a list is among these, and takes limit and cursor', async () => {
    const lists = (await listTools(caller)).flatMap(({ name, inputSchema }) => {
      const { limit, cursor } = record(inputSchema['properties']);
      if (!cursor) return [];
      const { minimum, maximum, description } = record(limit);
      expect([name, minimum, maximum]).toEqual([name, 1, 100]);
      expect(description).toContain('default 25');
      return [name];
    });
    // A person has at most 21 gardens.
    const short = ['list_gardens'];
    expect(new Set([...LISTS.map(([name]) => name), ...short])).toEqual(new Set(lists));
    for (const [name, { method, response }] of toolRows()) {
      const schema = jsonSchemaOf(response.schema, 'output');
      const properties = record(schema['properties'] ?? {});
      const list = schema['type'] === 'array' ? schema : properties['items'];
      const isList = method === 'GET' && list !== undefined;
      expect([name, lists.includes(name)]).toEqual([name, isList]);
      if (!isList || 'nextCursor' in properties) continue;
      const item = record(record(list)['items']);
      if (item['type'] === 'string') continue;
      // What identifies an item is part of it.
      const { itemKey = ['id'] } = response;
      const parts = Object.keys(record(item['properties']));
      expect([name, parts]).toEqual([name, expect.arrayContaining([...itemKey])]);
    }
  });

  test('a client that cuts 20 characters out of the middle of long results reads every plant', async () => {
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const { content } = await callTool(caller, 'list_plants', {
        view: 'full',
        limit: 100,
        cursor,
      });
      const [{ text } = { text: '' }] = content;
      const shown = text.length <= 12_020 ? text : `${text.slice(0, 6000)}…${text.slice(-6000)}`;
      const page = record(JSON.parse(shown));
      names.push(...records(page['items']).map(({ name }) => name));
      cursor = page['nextCursor'];
    } while (cursor !== null);
    const all = records(await listed(caller, '/api/plants?'));
    expect(names).toEqual(all.map(({ name }) => name));
  });

  test.each([
    [0, /limit must be greater than or equal to 1/],
    [101, /limit must be less than or equal to 100/],
    [1.5, /limit must be an integer/],
    ['many', /limit must be an integer/],
  ])('a limit of %j is refused by every list', async (limit, message) => {
    for (const [name, given] of LISTS) {
      expect(await refused(caller, name, { ...givenTo(name, given, id), limit })).toMatch(message);
    }
  });

  test('a limit may be text, and a page has 25 items by default', async () => {
    for (const limit of ['25', undefined, null, '']) {
      expect((await pageOf(caller, 'list_locations', { limit })).items).toHaveLength(25);
    }
  });

  test('a cursor is valid only for the same list of the same account', async () => {
    const { nextCursor: cursor } = await pageOf(caller, 'list_plants', {});
    const other = await assistant(service);
    const calls = [
      [other, 'list_plants', { cursor }],
      [caller, 'list_plants', { cursor, view: 'full' }],
      [caller, 'list_plants', { cursor, q: 'plant' }],
      [caller, 'list_locations', { cursor }],
      [caller, 'list_photos', { cursor }],
      [caller, 'list_plants', { cursor: `${String(cursor)}A` }],
    ] as const;
    for (const [who, name, given] of calls) {
      expect(await refused(who, name, given)).toMatch(/^invalid_cursor: .*without cursor/);
    }
    expect(await refused(caller, 'list_plants', { cursor: 7 })).toMatch(/cursor must be a string/);
    // Of the same list, whatever its limit.
    expect((await pageOf(caller, 'list_plants', { cursor, limit: 3 })).items).toHaveLength(3);
  });
});
