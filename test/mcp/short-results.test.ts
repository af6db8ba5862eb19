import { jsonSchemaOf } from '../../src/fields/json-schema';
import { DAY_MS } from '../../src/core/time';
import { record, records } from '../support/client';
import { startService, storePlants, toolRows } from '../support/program';
import type { TestService } from '../support/service';
import { dayIn, listed, LONGEST, storeGarden } from './pages';
import { assistant, type Assistant, callTool, refused, tool } from './support';

let service: TestService;
let caller: Assistant;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  caller = await assistant(service);
});
afterAll(() => service.close());

/** The result of a call, which must be short. */
async function short(name: string, given: object): Promise<Record<string, unknown>> {
  const { content, structuredContent, isError } = await callTool(caller, name, given);
  const text = content[0]?.text ?? '';
  expect([isError, text]).toEqual([undefined, text]);
  expect(text.length).toBeLessThanOrEqual(LONGEST);
  expect(JSON.parse(text)).toEqual(structuredContent);
  return record(structuredContent);
}

describe('a write to 100 plants', () => {
  let plantIds: unknown[];
  beforeEach(async () => {
    plantIds = (await storeGarden(service, caller, 100)).map(({ id }) => id);
  });

  async function logged(): Promise<Record<string, unknown>[]> {
    return records(await listed(caller, '/api/events?'));
  }

  test('by log_care logs all, and returns the first events and their count', async () => {
    const text = 'Leaves dusted, one by one. '.repeat(70);
    const answer = await short('log_care', { plantIds, type: 'note', text });
    const items = records(answer['items']);
    expect(answer).toEqual({ items, count: 100, hasMore: true });
    expect(items.length).toBeGreaterThan(3);
    expect(items.map(({ plantId }) => plantId)).toEqual(plantIds.slice(0, items.length));
    const events = await logged();
    expect(events).toHaveLength(100);
    expect(await short('delete_events', { eventIds: events.map(({ id }) => id) })).toEqual({
      success: true,
    });
    expect(await logged()).toEqual([]);
  });

  test('by complete_care shows when the care of those events is due next', async () => {
    const answer = await short('complete_care', { plantIds, type: 'watered' });
    const [items, next] = [records(answer['items']), records(answer['next'])];
    expect(answer).toMatchObject({ count: 100, hasMore: true });
    expect(items.length).toBeGreaterThan(10);
    expect(next.map(({ plantId }) => plantId)).toEqual(items.map(({ plantId }) => plantId));
    expect(await logged()).toHaveLength(100);
  });

  test.each([
    ['snooze_care', { all: true, type: 'any', until: dayIn(14) }],
    ['snooze_care', { all: true, type: 'any', cancel: true }],
    ['skip_care', { type: 'watered' }],
  ])('by %s %j changes all', async (name, given) => {
    const whom = 'all' in given ? {} : { plantIds };
    await tool(caller, 'snooze_care', { plantIds, type: 'watered', until: dayIn(3) });
    const answer = await short(name, { ...given, ...whom });
    expect(answer).toMatchObject({ count: name === 'skip_care' ? 0 : 100 });
    expect(answer['hasMore']).toBe(name !== 'skip_care');
  });

  test('is the same again with its Idempotency-Key', async () => {
    const given = { plantIds, type: 'watered' };
    const key = { 'Idempotency-Key': 'once' };
    const first = await callTool(caller, 'log_care', given, key);
    expect(await callTool(caller, 'log_care', given, key)).toEqual(first);
    expect(first.structuredContent).toMatchObject({ count: 100, hasMore: true });
    expect(await logged()).toHaveLength(100);
  });
});

test('a short list of a write is complete, and a single item stays as it is', async () => {
  await caller.user.plant({ location: 'Attic', wateringFrequencyDays: 7 });
  const { id } = await caller.user.plant({ location: 'Attic' });
  const answer = await tool(caller, 'log_care', { location: 'Attic', type: 'watered' });
  expect(answer).toMatchObject({ count: 2, hasMore: false });
  expect(answer['items']).toHaveLength(2);
  await caller.user.patch(`/api/plants/${id}`, { wateringFrequencyDays: 3 }).expect(200);
  const snooze = { plantId: id, type: 'watered', until: dayIn(5) };
  expect(await tool(caller, 'snooze_care', snooze)).not.toHaveProperty('count');
});

test('no write has a cursor, and those that return lists return items', () => {
  for (const [name, { method, query, body, response }] of toolRows()) {
    if (method === 'GET') continue;
    const given = [query, body].flatMap((schema) =>
      schema ? Object.keys(jsonSchemaOf(schema, 'input')['properties'] as object) : [],
    );
    expect([name, given]).toEqual([name, expect.not.arrayContaining(['cursor'])]);
    const { properties = {} } = jsonSchemaOf(response.schema, 'output');
    const members = record(properties);
    const lists = Object.keys(members).filter((each) => record(members[each])['type'] === 'array');
    if ('id' in members || lists.length === 0) continue;
    expect([name, lists]).toEqual([name, expect.arrayContaining(['items'])]);
  }
});

describe('the insights of a year of a large garden', () => {
  let plantId: unknown;
  beforeEach(async () => {
    const plants = Array.from({ length: 300 }, (_, index) => ({
      name: `Plant ${index} ${'x'.repeat(80)}`,
      species: `Species ${index} ${'x'.repeat(80)}`,
      mossPoleNeeded: false,
      toxic: false,
    }));
    await storePlants(service.app, caller.user.id, plants);
    const ids = records(await listed(caller, '/api/plant-summaries?')).map(({ id }) => id);
    plantId = ids[7];
    for (let days = 0; days < 360; days += 1) {
      const occurredAt = new Date(Date.now() - days * DAY_MS).toISOString();
      await caller.user.event(String(plantId), { type: 'watered', occurredAt });
    }
    const growth = { type: 'growth', growthAmount: 2, growthUnit: 'cm' };
    for (const some of [ids.slice(0, 100), ids.slice(100, 200)]) {
      await caller.user.post('/api/events', { plantIds: some, ...growth }).expect(201);
    }
  });

  test('are short by default; a section that is too long says how to narrow it', async () => {
    const byDefault = await short('get_insights', {});
    expect(byDefault).toMatchObject({
      overview: { totalPlants: 300, totalEvents: 560 },
      wateringStreaks: { currentStreak: 360 },
    });
    for (const [sections, how] of [
      ['careActivityByDay', 'from, to'],
      ['growthTracking', 'plantId'],
      ['growthSeries', 'plantId'],
      ['speciesDistribution', 'list_plants'],
      ['overview,careActivityByDay', 'fewer sections'],
    ] as const) {
      const reason = await refused(caller, 'get_insights', { sections });
      expect(reason).toMatch(/^validation_error: The result has \d+ characters/);
      expect(reason).toContain(how);
    }
    const month = { sections: 'careActivityByDay', from: dayIn(-30), to: dayIn(0) };
    expect((await short('get_insights', month))['careActivityByDay']).toHaveLength(32);
    const grown = await short('get_insights', { sections: 'growthTracking,growthSeries', plantId });
    expect(grown).toEqual({
      growthTracking: [expect.objectContaining({ plantId, total: 2 })],
      growthSeries: [expect.objectContaining({ plantId, total: 2 })],
    });
  });
});

test('an error that lists many long faults is short', async () => {
  const unknown = Object.fromEntries(
    Array.from({ length: 90 }, (_, index) => [`${'x'.repeat(900)}${index}`, 1]),
  );
  for (const [name, given] of [
    ['create_plant', unknown],
    ['import_plants', { plants: [unknown] }],
  ] as const) {
    const reason = await refused(caller, name, given);
    expect(reason.length).toBeLessThanOrEqual(LONGEST);
    expect(reason).toMatch(new RegExp(`^validation_error: .*call ${name} again\\.$`));
  }
});
