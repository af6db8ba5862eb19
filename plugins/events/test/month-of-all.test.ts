import { newestFirst } from '../../../test/support/paging';
import { startService } from '../../../test/support/program';
import { queriesOf } from '../../../test/support/profiler';
import { several } from '../../../test/support/several';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError, faultsOf, listOf } from '../../../test/support/shapes';

const START = Date.UTC(2026, 2, 1);
const END = Date.UTC(2026, 2, 31, 23, 59, 59, 999);
const MARCH = `?monthStart=${START}&monthEnd=${END}`;

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

const month = (query: string, by = user) => by.get(`/api/events/month${query}`);
const log = (plantId: string, time: number, more: object = {}) =>
  user.event(plantId, { ...more, occurredAt: new Date(time).toISOString() });

test('lists exactly the events of all plants between both bounds, newest first', async () => {
  const [fern, moss, gone] = [await user.plant(), await user.plant(), await user.plant()];
  const photo = await user.photo();
  const events = [await log(fern.id, START, { photoIds: [photo.id] })];
  const many = (count: number) =>
    log(count % 2 === 0 ? fern.id : moss.id, START + (count % 9) * 60_000);
  events.push(...(await several(70, many)));
  events.push(await log(moss.id, END));
  for (const time of [START - 1, END + 1]) await log(fern.id, time);
  await log(gone.id, START);
  const deleted = await log(fern.id, START);
  await user.delete(`/api/events/${deleted.id}`).expect(200);
  await user.delete(`/api/plants/${gone.id}`).expect(200);
  await user.post(`/api/plants/${moss.id}/archive`, { reason: 'sold' }).expect(200);
  const other = await service.user();
  await other.event((await other.plant()).id, { occurredAt: new Date(START).toISOString() });
  const found = listOf(await month(MARCH).expect(200));
  const newest = newestFirst(events);
  expect(found.map(({ id }) => id)).toEqual(newest.map(({ id }) => id));
  const shown = found.find(({ id }) => id === events[0]?.id);
  expect(shown).toMatchObject({ plantId: fern.id, photos: [{ id: photo.id }] });
});

test('is empty without plants', async () => {
  expect((await month(MARCH).expect(200)).body).toEqual([]);
});

test('the monthly view requires the pro tier, which is checked first', async () => {
  const free = await service.user({ tier: 'free' });
  expectError(await month(MARCH, free), 403, 'feature_not_available');
  expectError(await month('', free), 403, 'feature_not_available');
  const unable = await service.user({ tier: 'free', scopes: ['events:write'] });
  expectError(await month('', unable), 403, 'insufficient_scope');
});

test('bounds are checked as for one plant', async () => {
  expect(faultsOf(await month('').expect(400))).toEqual(['monthEnd', 'monthStart']);
  for (const query of [
    `?monthStart=${END}&monthEnd=${START}`,
    `?monthStart=${START}&monthEnd=x`,
    `?monthStart=${START}&monthEnd=${START + 367 * 24 * 60 * 60 * 1000}`,
  ]) {
    expect(faultsOf(await month(query).expect(400))).toEqual(['monthEnd']);
  }
  expect(faultsOf(await month(`${MARCH}&plantId=x`).expect(400))).toEqual(['plantId']);
});

test('events are read in order by an index', async () => {
  const { id } = await user.plant();
  for (let count = 0; count < 30; count += 1) await log(id, START - 1 - count);
  await log(id, START);
  const queries = await queriesOf(service, () => month(MARCH).expect(200));
  const [ofEvents] = queries.filter(({ collection }) => collection === 'events');
  expect(ofEvents).toMatchObject({ sortsInMemory: false, docsExamined: 1 });
});
