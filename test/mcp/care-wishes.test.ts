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
  const items = await talk.items('list_due_care', { dueBy: day(6) });
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

test('"Bring these forty plants in": there is no tool for it, and one file', async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `Pilea ${index},Pilea peperomioides,7`);
  const csv = ['name,species,wateringFrequencyDays', ...lines].join('\n');
  for (const [query, status] of [['?dryRun=true', 200] as const, ['', 201] as const]) {
    const answer = await me.user.post(`/api/import${query}`, { csv }).expect(status);
    expect(answer.body).toEqual({ plants: 40, events: 0 });
  }
  expect(await talk.items('list_plants', { q: 'pilea' })).toHaveLength(40);
});
