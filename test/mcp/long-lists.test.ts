import { DAY_MS } from '../../src/core/time';
import type { TestService } from '../support/service';
import { record, records } from '../support/client';
import { assistant, type Assistant, callTool, listTools, refused, tool } from './support';
import {
  LARGEST_SINCE,
  startService,
  storeLargest,
  storePlants,
  toolRows,
} from '../support/program';

/** The maximum length of a response with a list, in characters. */
const LONGEST = 60_000;

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { TIER_PRO_PLANTS: '100000' } });
});
afterAll(() => service.close());

/** The response over REST. */
async function read({ user }: Assistant, path: string): Promise<unknown> {
  return (await user.get(path).expect(200)).body as unknown;
}

/** All parts of a list, in order; each must be short. */
async function partsOf(
  caller: Assistant,
  name: string,
  given: object = {},
): Promise<Record<string, unknown>[]> {
  const parts: Record<string, unknown>[] = [];
  let cursor: unknown;
  do {
    const { structuredContent, content } = await callTool(caller, name, { ...given, cursor });
    const part = record(structuredContent);
    parts.push(part);
    if (lengthOfLists(part) > 1) expect(content[0]?.text.length).toBeLessThanOrEqual(LONGEST);
    // As few parts as possible: the next item did not fit.
    cursor = part['nextCursor'];
    expect(part['hasMore'] ?? false).toBe(typeof cursor === 'string');
  } while (typeof cursor === 'string');
  return parts;
}

function lengthOfLists(part: Record<string, unknown>): number {
  return Object.values(part)
    .filter((each) => Array.isArray(each))
    .reduce((sum: number, each: unknown[]) => sum + each.length, 0);
}

function itemsOf(parts: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  return parts.flatMap(({ items }) => records(items));
}

/** A user with plants and events of the maximum size. */
async function largest(counts: { plants: number; events: number }) {
  const caller = await assistant(service);
  return { caller, ...(await storeLargest(service.app, caller.user.id, counts)) };
}

/** A user with many plants that have frequencies. */
async function crowded(count: number): Promise<Assistant> {
  const caller = await assistant(service);
  const long = (word: string, index: number) => `${word} ${index} ${'x'.repeat(80)}`;
  const plants = Array.from({ length: count }, (_, index) => ({
    name: long('Plant', index),
    species: long('Species', index),
    location: long('Location', index),
    wateringFrequencyDays: 7,
    fertilizerFrequencyDays: 30,
    mossPoleNeeded: false,
    toxic: false,
  }));
  await storePlants(service.app, caller.user.id, plants);
  return caller;
}

describe('a list that is too long for one response', () => {
  let caller: Assistant;
  beforeAll(async () => {
    caller = await crowded(1000);
  });

  test.each([
    ['list_plants', '/api/plant-summaries'],
    ['list_locations', '/api/locations'],
    ['list_due_care', '/api/care'],
  ])('of %s comes in parts that together equal the response over REST', async (name, path) => {
    const parts = await partsOf(caller, name);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.slice(0, -1)) {
      expect(JSON.stringify(part).length).toBeGreaterThan(LONGEST / 2);
    }
    const body = await read(caller, path);
    const all = (Array.isArray(body) ? body : record(body)['items']) as unknown[];
    expect(parts.flatMap(({ items }) => items as unknown[])).toEqual(all);
  });

  test('of list_plants continues after the last item, whatever other items were deleted', async () => {
    const first = await tool(caller, 'list_plants');
    const shown = itemsOf([first]);
    await caller.user.delete(`/api/plants/${String(shown[3]?.['id'])}`).expect(200);
    const cursor = first['nextCursor'];
    const [next] = itemsOf([await tool(caller, 'list_plants', { cursor })]);
    const body = await read(caller, '/api/plant-summaries');
    const all = records(body).map(({ id }) => id);
    expect(all.indexOf(next?.['id'])).toBe(shown.length - 1);
  });

  test('has to start again if its last item was deleted', async () => {
    const first = await tool(caller, 'list_plants');
    const last = itemsOf([first]).at(-1);
    await caller.user.delete(`/api/plants/${String(last?.['id'])}`).expect(200);
    expect(await refused(caller, 'list_plants', { cursor: first['nextCursor'] })).toMatch(
      /^invalid_cursor: .*without cursor/,
    );
  });

  test('has cursors that are valid only for the same call of the same account', async () => {
    const { nextCursor: cursor } = await tool(caller, 'list_plants');
    const other = await crowded(50);
    const calls = [
      [other, 'list_plants', { cursor }],
      [caller, 'list_plants', { cursor, view: 'full' }],
      [caller, 'list_plants', { cursor, q: 'plant' }],
      [caller, 'list_locations', { cursor }],
      [caller, 'list_plants', { cursor: `${String(cursor)}A` }],
    ] as const;
    for (const [who, name, given] of calls) {
      expect(await refused(who, name, given)).toMatch(/^invalid_cursor: /);
    }
    expect(await refused(caller, 'list_plants', { cursor: 7 })).toMatch(/cursor must be a string/);
  });

  test('of get_insights has its sections one after another', async () => {
    const parts = await partsOf(caller, 'get_insights');
    expect(parts.length).toBeGreaterThan(1);
    const body = await read(caller, '/api/insights');
    const { careActivityByDay: _, ...all } = record(body);
    for (const part of parts) expect(part['overview']).toEqual(all['overview']);
    for (const section of ['speciesDistribution', 'growthTracking']) {
      expect(parts.flatMap((part) => records(part[section]))).toEqual(all[section]);
    }
  });
});

test('lists of the largest records have one item per part', async () => {
  const { caller, plantId: id } = await largest({ plants: 5, events: 4 });
  const month = { id, monthStart: LARGEST_SINCE, monthEnd: LARGEST_SINCE + DAY_MS };
  const plants = await read(caller, '/api/plants');
  expect(itemsOf(await partsOf(caller, 'list_plants', { view: 'full' }))).toEqual(plants);
  const body = await read(caller, `/api/plants/${id}/events`);
  const events = record(body)['items'];
  for (const [name, given] of [
    ['list_month_events', month],
    ['list_events', { id, limit: 100 }],
    ['search_events', { limit: 100 }],
  ] as const) {
    expect(itemsOf(await partsOf(caller, name, given))).toEqual(events);
  }
  const photos = await partsOf(caller, 'list_photos', { limit: 100 });
  expect(itemsOf(photos)).toHaveLength(20);
  expect(photos.length).toBeGreaterThan(1);
});

test('a long page is shortened, and keeps its kind of cursor', async () => {
  const caller = await assistant(service);
  const { id } = await caller.user.plant();
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      caller.user.event(id, { type: 'note', text: `${index} ${'é'.repeat(1900)}` }),
    ),
  );
  const body = await read(caller, '/api/events?limit=100');
  const parts = await partsOf(caller, 'search_events', { limit: 100 });
  expect(parts.length).toBeGreaterThan(2);
  expect(itemsOf(parts)).toEqual(record(body)['items']);
  // The same cursors as over REST.
  const rest = `/api/events?limit=100&cursor=${String(parts[0]?.['nextCursor'])}`;
  const rested = await read(caller, rest);
  expect(itemsOf(parts.slice(1))).toEqual(record(rested)['items']);
});

describe('the response to log_care', () => {
  const COUNT = 60;
  let caller: Assistant;
  let given: Record<string, unknown>;
  beforeEach(async () => {
    caller = await assistant(service);
    const text = 'Leaves dusted, one by one. '.repeat(70);
    await Promise.all(
      Array.from({ length: COUNT }, () => caller.user.plant({ location: 'Attic' })),
    );
    given = { location: 'Attic', type: 'note', text };
  });

  async function logged(): Promise<number> {
    const body = await read(caller, '/api/events?limit=100');
    return records(record(body)['items']).length;
  }

  test('comes in parts if it is long, and logs once', async () => {
    const items = itemsOf(await partsOf(caller, 'log_care', given));
    expect(new Set(items.map(({ id }) => id)).size).toBe(COUNT);
    expect(await logged()).toBe(COUNT);
    await tool(caller, 'delete_events', { eventIds: items.map(({ id }) => id) });
    expect(await logged()).toBe(0);
  });

  test('continues with an Idempotency-Key as well', async () => {
    const key = { 'Idempotency-Key': 'once' };
    const first = await callTool(caller, 'log_care', given, key);
    expect(await callTool(caller, 'log_care', given, key)).toEqual(first);
    const cursor = first.structuredContent?.['nextCursor'];
    const second = await tool(caller, 'log_care', { ...given, cursor });
    expect(itemsOf([record(first.structuredContent), second]).length).toBeGreaterThan(40);
    expect(await logged()).toBe(COUNT);
  });

  test('a cursor never logs anything, even if it is invalid', async () => {
    const { nextCursor: cursor } = await tool(caller, 'log_care', given);
    const calls = [
      { ...given, cursor: 'x' },
      { ...given, text: 'Another', cursor },
    ];
    for (const each of calls) {
      expect(await refused(caller, 'log_care', each)).toMatch(/^validation_error: cursor /);
    }
    const other = await assistant(service);
    await other.user.plant({ location: 'Attic' });
    expect(await refused(other, 'log_care', { ...given, cursor })).toMatch(/cursor/);
    expect(await logged()).toBe(COUNT);
  });

  test('is complete if it is short, and the same as over REST', async () => {
    const answer = await tool(caller, 'log_care', { location: 'Attic', type: 'watered' });
    expect(Object.keys(answer)).toEqual(['items']);
    expect(answer['items']).toHaveLength(COUNT);
  });
});

test('every tool that returns lists takes a cursor, and no other does', async () => {
  const me = await assistant(service);
  const names = (await listTools(me))
    .filter(({ inputSchema }) => 'cursor' in (inputSchema['properties'] as object))
    .map(({ name }) => name);
  const lists = toolRows().filter(([name]) => name.startsWith('list_'));
  const care = ['complete_care', 'log_care', 'skip_care', 'snooze_care'];
  const others = ['get_insights', 'search_events', ...care];
  expect([...names].sort()).toEqual([...lists.map(([name]) => name), ...others].sort());
});
