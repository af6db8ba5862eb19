import { DAY_MS } from '../../src/core/time';
import { record, records } from '../support/client';
import { startService } from '../support/program';
import type { TestService } from '../support/service';
import { assistant, type Assistant } from './support';
import { Conversation } from './wish';

let service: TestService;
let me: Assistant;
let talk: Conversation;

const day = (ahead: number): string =>
  new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);
const due = async (query: string) =>
  records(record((await me.user.get(`/api/care${query}`).expect(200)).body)['items']);

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  me = await assistant(service);
  talk = new Conversation(me);
  const frequencies = { wateringFrequencyDays: 7, fertilizerFrequencyDays: 30 };
  for (let index = 0; index < 48; index += 1) {
    await me.user.plant({ name: `Monstera ${index}`, location: 'Living room', ...frequencies });
  }
  const { id } = await me.user.plant({ name: 'Calathea', ...frequencies });
  const mist = { care: 'other', label: 'Rotate', everyDays: 14 };
  await me.user.post(`/api/plants/${id}/schedules`, mist).expect(201);
  await me.user.plant({ name: 'Boston fern', ...frequencies });
});
afterEach(() => {
  talk.expectShort();
});
afterAll(() => service.close());

test('"Pause everything while I am away until the 14th"', async () => {
  await talk.call('snooze_care', { all: true, type: 'any', until: day(14) });
  expect(await due(`?dueBy=${day(13)}`)).toEqual([]);
  expect(await due(`?dueBy=${day(14)}`)).toHaveLength(101);
});

test('"Mist the calathea every three days, but not in winter"', async () => {
  const [calathea] = await talk.items('list_plants', { q: 'calathea' });
  const winter = { from: '12-01', to: '02-28', everyDays: 0 };
  const schedule = await talk.call('create_schedule', {
    id: calathea?.id,
    care: 'other',
    label: 'Mist',
    everyDays: 3,
    seasons: [winter],
    startOn: '2027-11-01',
  });
  const items = await due('?dueBy=9999-12-31');
  const mist = items.find(({ scheduleId }) => scheduleId === schedule['id']);
  expect(mist).toMatchObject({ label: 'Mist', dueOn: '2027-11-01', everyDays: 3 });
});

test('"What is due this week?"', async () => {
  const { id } = await me.user.plant({ name: 'Oak', wateringFrequencyDays: 5 });
  await me.user.event(id);
  const items = await talk.all('list_due_care', { dueBy: day(6), limit: 100 });
  expect(items).toHaveLength(102);
  expect(items.at(-1)).toMatchObject({ plantName: 'Oak', dueOn: day(5) });
});

test('"When is the next repotting due?"', async () => {
  const repotting = { care: 'repotted', everyDays: 730, startOn: day(40) };
  const { id } = await me.user.plant({ name: 'Oak' });
  await me.user.post(`/api/plants/${id}/schedules`, repotting).expect(201);
  const items = await talk.items('list_due_care', { type: 'repotted', dueBy: day(365) });
  expect(items).toMatchObject([{ plantName: 'Oak', care: 'repotted', dueOn: day(40) }]);
});

test('"The fern died"', async () => {
  const [fern] = await talk.items('list_plants', { q: 'fern' });
  await talk.call('archive_plant', { id: fern?.id, reason: 'died' });
  expect((await due('')).map(({ plantName }) => plantName)).not.toContain('Boston fern');
});

test('"Here are my thirty plants, most of them watered on Sunday"', async () => {
  const given = Array.from({ length: 30 }, (_, index) => ({
    name: `Pilea ${index}`,
    species: 'Pilea peperomioides',
    location: 'Study',
    wateringFrequencyDays: 7,
    ...(index > 0 && { lastWatered: day(-3) }),
    ...(index === 1 && { schedules: [{ care: 'repotted', everyDays: 730, lastDone: day(-700) }] }),
  }));
  const { items, plants, events } = await talk.call('import_plants', { plants: given });
  expect([plants, events]).toEqual([30, 30]);
  expect(records(items).map(({ name }) => name)).toEqual(given.map(({ name }) => name));
  const listed = records((await me.user.get('/api/plants?q=pilea').expect(200)).body);
  expect(listed.map(({ id, name }) => ({ id, name }))).toEqual(items);
  const next = await due(`?dueBy=${day(40)}&location=Study`);
  expect(next.slice(0, 2)).toMatchObject([
    { plantName: 'Pilea 0', dueOn: day(0), lastDone: null },
    { plantName: 'Pilea 1', dueOn: day(4), care: 'watered' },
  ]);
  expect(next.at(-1)).toMatchObject({ plantName: 'Pilea 1', care: 'repotted', dueOn: day(30) });
});
