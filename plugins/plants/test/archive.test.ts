import { assistant, tool } from '../../../test/mcp/support';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
import { Client } from '../../../test/support/client';
import { insightsOf, water } from '../../../test/support/insights';
import { countThrough } from '../../../test/support/quotas';
import { plantsPlugin, reconcile, startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { newId } from '../../../src/core/ids';
import { DAY_MS } from '../../../src/core/time';
import { plant as plantRecord } from '../schema';

const YEARS = 10 * 365 * 24 * 3600;

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user({ expiresInSeconds: YEARS });
});
afterEach(resetClock);
afterAll(() => service.close());

const archive = (id: string, body: object = { reason: 'died' }, by = user) =>
  by.post(`/api/plants/${id}/archive`, body);
const unarchive = (id: string, by = user) => by.post(`/api/plants/${id}/unarchive`);

async function names(query = '', path = '/api/plants'): Promise<unknown[]> {
  return listOf(await user.get(`${path}?${query}`).expect(200)).map(({ name }) => name);
}

async function used(by = user): Promise<unknown> {
  return bodyOf(await by.get('/api/account').expect(200))['limits'];
}

test('only archived plants have archivedAt and archiveReason', async () => {
  setClock('2026-05-01T12:00:00Z');
  const { id } = await user.plant({ name: 'Fern' });
  setClock('2026-05-02T12:00:00Z');
  const answer = await archive(id, { reason: 'given_away' }).expect(200);
  const archived = { archivedAt: '2026-05-02T12:00:00.000Z', archiveReason: 'given_away' };
  expect(answer.body).toMatchObject({ id, ...archived, updatedAt: archived.archivedAt });
  expect((await user.get(`/api/plants/${id}`)).body).toEqual(answer.body);
  const [inShort] = listOf(await user.get('/api/plant-summaries?status=archived'));
  expect(inShort).toMatchObject({ id, ...archived });
  const back = await unarchive(id).expect(200);
  expect(Object.keys(bodyOf(back)).filter((key) => key.startsWith('archive'))).toEqual([]);
  expect((await unarchive(id).expect(200)).body).toEqual(back.body);
});

test('lists have active plants by default', async () => {
  const [fern] = [await user.plant({ name: 'Fern', location: 'Hall' })];
  await user.plant({ name: 'Moss', location: 'Hall' });
  await archive(fern.id).expect(200);
  for (const path of ['/api/plants', '/api/plant-summaries']) {
    expect(await names('', path)).toEqual(['Moss']);
    expect(await names('status=active', path)).toEqual(['Moss']);
    expect(await names('status=archived', path)).toEqual(['Fern']);
    expect(await names('status=all', path)).toEqual(['Fern', 'Moss']);
    expect(await names('status=archived&location=Hall&q=fer', path)).toEqual(['Fern']);
  }
  expect(faultsOf(await user.get('/api/plants?status=dead').expect(400))).toEqual(['status']);
});

test('archivedAt is the start of the given day in the account’s time zone', async () => {
  const far = await service.user({ timezone: 'Asia/Kathmandu', expiresInSeconds: YEARS });
  setClock('2026-03-14T20:00:00Z');
  const { id } = await far.plant();
  const on = async (day: string) =>
    bodyOf(await archive(id, { reason: 'sold', on: day }, far).expect(200))['archivedAt'];
  expect(await on('2026-03-15')).toBe('2026-03-14T18:15:00.000Z');
  expect(await on('2019-12-31')).toBe('2019-12-30T18:15:00.000Z');
  expect(await on('0000-01-01')).toBe('0000-01-01T00:00:00.000Z');
  const ahead = await archive(id, { reason: 'sold', on: '2026-03-16' }, far).expect(400);
  expect(faultsOf(ahead)).toEqual(['on']);
});

test('archiving again corrects the reason and, if given, the day', async () => {
  const { id } = await user.plant();
  const first = bodyOf(await archive(id).expect(200));
  const second = bodyOf(await archive(id, { reason: 'other' }).expect(200));
  expect(second).toMatchObject({ archivedAt: first['archivedAt'], archiveReason: 'other' });
  const third = bodyOf(await archive(id, { reason: 'other', on: '2026-01-02' }).expect(200));
  expect(third).toMatchObject({ archivedAt: '2026-01-02T00:00:00.000Z' });
  expect(await used()).toMatchObject({ plants: { used: 0 } });
});

test('invalid archive requests are refused', async () => {
  const { id } = await user.plant();
  expect(faultsOf(await archive(id, {}).expect(400))).toEqual(['reason']);
  const both = await archive(id, { reason: 'lost', on: '2026-02-30' }).expect(400);
  expect(faultsOf(both)).toEqual(['on', 'reason']);
  const other = await service.user();
  for (const [whose, plantId] of [[other, id] as const, [user, NOBODYS_ID] as const]) {
    expectError(await archive(plantId, { reason: 'died' }, whose), 404, 'plant_not_found');
    expectError(await unarchive(plantId, whose), 404, 'plant_not_found');
  }
  const reader = await service.user({ id: user.id, scopes: ['plants:read', 'events:write'] });
  expectError(await archive(id, { reason: 'died' }, reader), 403, 'insufficient_scope');
});

test('an archived plant keeps its history, but is left out of totals, species and locations', async () => {
  setClock('2026-06-01T08:00:00Z');
  const old = await user.plant({ name: 'Old', species: 'Fern', location: 'Attic' });
  await user.photo({ plantId: old.id });
  const grown = { type: 'growth', growthAmount: 2, growthUnit: 'cm' };
  await user.event(old.id, grown);
  await water(user, old.id, ['2026-05-31']);
  setClock('2026-06-11T08:00:00Z');
  await user.plant({ name: 'New', species: 'Moss', location: 'Hall' });
  await archive(old.id).expect(200);
  const insights = await insightsOf(user);
  expect(insights.overview).toMatchObject({ totalPlants: 1, totalEvents: 2, totalPhotos: 1 });
  expect(insights.overview.daysSinceFirstPlant).toBe(10);
  expect(insights.speciesDistribution).toEqual([{ species: 'Moss', count: 1 }]);
  expect(insights.growthTracking).toMatchObject([{ plantId: old.id, total: 2 }]);
  expect((await user.get('/api/locations').expect(200)).body).toEqual(['Hall']);
  for (const query of ['', `?plantId=${old.id}`, '?location=Attic']) {
    expect(bodyOf(await user.get(`/api/events${query}`).expect(200))['items']).toHaveLength(2);
  }
  expect(bodyOf(await user.get(`/api/photos?plantId=${old.id}`))['items']).toHaveLength(1);
  const { records } = bodyOf(await user.get('/api/account/export').expect(200));
  expect(records).toMatchObject({ plants: [{ archiveReason: 'died' }, { name: 'New' }] });
});

test('a location has the spelling of its oldest active plant', async () => {
  const old = await user.plant({ location: 'Salle à manger'.normalize('NFD') });
  await user.plant({ location: 'Salle à manger ' });
  const places = async () => (await user.get('/api/locations').expect(200)).body as string[];
  expect(await places()).toEqual(['Salle à manger'.normalize('NFD')]);
  await archive(old.id).expect(200);
  expect(await places()).toEqual(['Salle à manger ']);
  expect(await names('status=all&location=Salle%20%C3%A0%20manger')).toHaveLength(2);
});

test('events can be logged on an archived plant by its id, but not in bulk', async () => {
  const [archived, active] = [
    await user.plant({ location: 'Hall' }),
    await user.plant({ location: 'Hall' }),
  ];
  await archive(archived.id).expect(200);
  const { id } = await user.event(archived.id, { type: 'note', text: 'Compost' });
  await user.patch(`/api/events/${id}`, { text: 'Composted' }).expect(200);
  await user.delete(`/api/events/${id}`).expect(200);
  await user.post(`/api/events/${id}/restore`).expect(200);
  const named = await user.post('/api/events', { plantIds: [active.id, archived.id] });
  expectError(named, 400, 'plant_archived', new RegExp(archived.id));
  const unknown = await user.post('/api/events', { plantIds: [active.id, NOBODYS_ID] });
  expectError(unknown, 400, 'plant_not_found');
  const hall = bodyOf(await user.post('/api/events', { location: 'Hall' }).expect(201));
  expect(hall['items']).toMatchObject([{ plantId: active.id }]);
  await archive(active.id).expect(200);
  const empty = await user.post('/api/events', { location: 'Hall' }).expect(400);
  expect(faultsOf(empty)).toEqual(['location']);
});

test('an archived plant has no due care, and care operations on it are refused', async () => {
  const { id } = await user.plant({ wateringFrequencyDays: 3 });
  const due = async () => bodyOf(await user.get('/api/care').expect(200))['items'];
  const snooze = () => user.post('/api/care/snooze', { plantId: id, type: 'watered', until: null });
  expect(await due()).toHaveLength(1);
  await archive(id).expect(200);
  expect(await due()).toEqual([]);
  expectError(await snooze(), 400, 'plant_archived');
  await unarchive(id).expect(200);
  expect(await due()).toHaveLength(1);
  await snooze().expect(200);
});

test('copies get archived plants as changed plants', async () => {
  const client = new Client(service.url, user.token);
  const { id } = await user.plant({ wateringFrequencyDays: 3 });
  const until = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
  const snooze = { plantId: id, type: 'watered', until };
  await user.post('/api/care/snooze', snooze).expect(200);
  const before = await changesSince(client);
  expect(before.snoozes).toEqual([snooze]);
  expect(before.plants[0]).not.toHaveProperty('archivedAt');
  await archive(id).expect(200);
  const after = await changesSince(client, before.nextCursor);
  const shown = (await user.get(`/api/plants/${id}`)).body as object;
  expect(after).toMatchObject({ plants: [shown], events: [], snoozes: [], deleted: [] });
  await unarchive(id).expect(200);
  const { plants, snoozes } = await changesSince(client, after.nextCursor);
  expect(plants).toEqual([(await user.get(`/api/plants/${id}`)).body]);
  expect(snoozes).toEqual([snooze]);
});

test('archiving changes the tag of the plant', async () => {
  const { id } = await user.plant();
  const tag = String((await user.get(`/api/plants/${id}`)).headers['etag']);
  await archive(id).expect(200);
  await user.get(`/api/plants/${id}`).set('If-None-Match', tag).expect(200);
  await user.delete(`/api/plants/${id}`).set('If-Match', tag).expect(412);
});

test('an assistant archives and unarchives, and lists both', async () => {
  const me = await assistant(service);
  const { id } = await tool(me, 'create_plant', { name: 'Fern' });
  const args = { id, reason: 'died', on: null };
  expect(await tool(me, 'archive_plant', args)).toMatchObject({ archiveReason: 'died' });
  expect(await tool(me, 'list_plants')).toMatchObject({ items: [] });
  expect(await tool(me, 'list_plants', { status: 'all' })).toMatchObject({ items: [{ id }] });
  expect(await tool(me, 'unarchive_plant', { id })).not.toHaveProperty('archivedAt');
});

describe('places in the tier', () => {
  let small: TestService;

  beforeAll(async () => {
    small = await startService({ env: { TIER_FREE_PLANTS: '3', TIER_PRO_PLANTS: '1005' } });
  });
  afterAll(() => small.close());

  const checked = async () => (await reconcile(small.app, { repair: false })).differences;

  test('archiving a plant frees its place, and unarchiving it needs a free one', async () => {
    const free = await small.user({ tier: 'free' });
    const [first, ...others] = await Promise.all([free.plant(), free.plant(), free.plant()]);
    await archive(first.id, { reason: 'sold' }, free).expect(200);
    expect(await used(free)).toMatchObject({ plants: { max: 3, used: 2 } });
    await free.plant();
    expectError(await unarchive(first.id, free), 403, 'plant_limit_reached', /\b3\b/);
    expect((await free.get(`/api/plants/${first.id}`)).body).toHaveProperty('archivedAt');
    await free.delete(`/api/plants/${others[0].id}`).expect(200);
    await unarchive(first.id, free).expect(200);
    expectError(await free.post('/api/plants', { name: 'Ivy' }), 403, 'plant_limit_reached');
    expect(await checked()).toEqual([]);
  });

  test('deleting an archived plant frees no second place', async () => {
    const free = await small.user({ tier: 'free' });
    const { id } = await free.plant();
    await free.plant();
    await archive(id, { reason: 'died' }, free).expect(200);
    await free.delete(`/api/plants/${id}`).expect(200);
    expect(await used(free)).toMatchObject({ plants: { used: 1 } });
    expect(await checked()).toEqual([]);
  });

  test('of many plants that are unarchived at once, exactly as many succeed as there are places', async () => {
    const free = await small.user({ tier: 'free' });
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const { id } = await free.plant();
      ids.push(id);
      await archive(id, { reason: 'died' }, free).expect(200);
    }
    const waiting = [...ids];
    const back = () => unarchive(String(waiting.pop()), free);
    expect(await countThrough(back, 6, 'plant_limit_reached', 200)).toBe(3);
    expect(await used(free)).toMatchObject({ plants: { used: 3 } });
    expect(await checked()).toEqual([]);
  });

  test('an account has at most 1,000 archived plants', async () => {
    const pro = await small.user();
    await small.app.writeQueue.run(pro.id, (tx) => {
      const { userId, now } = tx;
      const set = { userId, createdAt: now, updatedAt: now, archivedAt: now };
      const one = () =>
        plantRecord.toDocument(
          { name: 'Fern', mossPoleNeeded: false, toxic: false },
          { _id: newId(), ...set, archiveReason: 'died' },
        );
      return small.app.exportsOf(plantsPlugin).insertBulk(tx, Array.from({ length: 999 }, one));
    });
    expect(await used(pro)).toMatchObject({ plants: { used: 0 } });
    const [last, over] = [await pro.plant(), await pro.plant()];
    await archive(last.id, { reason: 'died' }, pro).expect(200);
    const refused = await archive(over.id, { reason: 'died' }, pro);
    expectError(refused, 403, 'plant_limit_reached', /\b1000\b/);
    await archive(last.id, { reason: 'sold' }, pro).expect(200);
    await pro.delete(`/api/plants/${last.id}`).expect(200);
    await archive(over.id, { reason: 'died' }, pro).expect(200);
    expect(await checked()).toEqual([]);
  });
});
