import { DAY_MS } from '../../src/core/time';
import type { TestService } from '../support/service';
import { record, records } from '../support/client';
import { assistant, type Assistant } from './support';
import { Conversation, type Item } from './wish';
import { startService } from '../support/program';

/** The maximum cost of a default response with 50 plants. */
const DEFAULT_TOKENS = 4000;
const ROOMS = ['Bathroom', 'Bedroom', 'Hall', 'Kitchen', 'Living room'];
const SPECIES = [
  'Monstera deliciosa',
  'Nephrolepis exaltata',
  'Ficus lyrata',
  'Calathea orbifolia',
  'Epipremnum aureum',
  'Crassula ovata',
  'Spathiphyllum wallisii',
  'Hoya carnosa',
];
/** A garden whose owner waters each plant every nine days. */
const WATERED_EVERY_DAYS = 9;

let service: TestService;
let me: Assistant;
let plants: Item[];

let talk: Conversation;

/** The moment so many days ago, at an hour. */
function ago(days: number, hour = 8): string {
  const day = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  return `${day}T${String(hour).padStart(2, '0')}:00:00Z`;
}

const THIS_YEAR = `${new Date().getUTCFullYear()}-01-01T00:00:00Z`;

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
  plants = [];
  for (let index = 0; index < 50; index += 1) {
    const species = SPECIES[index % SPECIES.length] ?? '';
    const fields = {
      name: index === 0 ? 'Monstera by the window' : `${species.split(' ')[0] ?? ''} ${index}`,
      species,
      location: ROOMS[index % ROOMS.length],
      wateringFrequencyDays: WATERED_EVERY_DAYS,
      fertilizerFrequencyDays: 30,
      notes: 'Bought at the market; likes to be turned every other week.'.repeat(3),
    };
    plants.push(await me.user.plant(fields));
  }
  for (let days = 1; days < 60; days += 1) {
    const due = plants.filter(
      (_, index) => index % WATERED_EVERY_DAYS === days % WATERED_EVERY_DAYS,
    );
    const plantIds = due.map(({ id }) => id);
    await me.user.post('/api/events', { plantIds, occurredAt: ago(days) }).expect(201);
  }
  const [monstera, other] = plants;
  if (!monstera || !other) throw new Error('There are no plants.');
  for (let month = 1; month <= 12; month += 1) {
    const growth = { type: 'growth', growthAmount: month, growthUnit: 'cm' };
    await me.user.event(monstera.id, { ...growth, occurredAt: ago(month * 30) });
  }
  const thrips = { type: 'note', text: 'Thrips on two leaves; washed them.' };
  await me.user.event(other.id, { ...thrips, occurredAt: ago(200) });
});
beforeEach(() => {
  talk = new Conversation(me);
});
afterEach(() => {
  talk.expectShort();
});
afterAll(() => service.close());

test('"I watered everything in the living room this morning"', async () => {
  const rooms = await talk.call('list_locations');
  expect(rooms['items']).toContain('Living room');
  const logged = await talk.items('log_care', {
    location: 'Living room',
    type: 'watered',
    occurredAt: ago(0),
  });
  expect(logged).toHaveLength(10);
});

test('"Undo that"', async () => {
  const logged = await talk.items('log_care', { location: 'Hall', type: 'watered' });
  await talk.call('delete_events', { eventIds: logged.map(({ id }) => id) });
  const left = await me.user.get(`/api/events?location=Hall&from=${ago(0, 0)}`).expect(200);
  expect(record(left.body)['items']).toEqual([]);
});

test('"Undo what I just logged", which was for Sunday', async () => {
  const [hoya] = await talk.items('list_plants', { q: 'hoya 7' });
  const { id } = await me.user.event(String(hoya?.id), { occurredAt: ago(6) });
  const [last] = await talk.items('search_events', { sort: 'createdAt', limit: 1 });
  expect(last?.id).toBe(id);
  await talk.call('delete_event', { id });
});

test('"I moved the fern that is number 9 to the bathroom"', async () => {
  const found = await talk.items('list_plants', { q: 'nephrolepis 9' });
  expect(found).toHaveLength(1);
  const moved = await talk.call('update_plant', { id: found[0]?.id, location: 'Bathroom' });
  expect(moved).toMatchObject({ location: 'Bathroom' });
});

test('"How much did the monstera by the window grow this year?"', async () => {
  const [monstera] = await talk.items('list_plants', { q: 'by the window' });
  const filters = { plantId: monstera?.id, type: 'growth', from: THIS_YEAR, limit: 100 };
  const grown = await talk.items('search_events', filters);
  const expected = Array.from({ length: 12 }, (_, index) => index + 1).filter(
    (month) => ago(month * 30) >= THIS_YEAR,
  );
  const amounts = grown.map(({ growthAmount }) => growthAmount);
  expect(amounts).toEqual(expected);
});

test('"I fed all hoyas yesterday; here is a photo"', async () => {
  const hoyas = await talk.items('list_plants', { q: 'hoya carnosa' });
  const photo = await talk.call('create_photo', {
    imagehostPublicId: 'garden/hoyas',
    secureUrl: 'https://images.example.com/garden/hoyas.jpg',
    width: 1200,
    height: 900,
    format: 'jpg',
  });
  const fed = await talk.items('log_care', {
    plantIds: hoyas.map(({ id }) => id),
    type: 'fertilized',
    occurredAt: ago(1, 12),
    photoIds: [photo['id']],
  });
  expect(fed).toHaveLength(6);
});

test('"What did I do last week?"', async () => {
  const week = { from: ago(7, 0), to: ago(1, 23), limit: 100 };
  const events = await talk.all('search_events', week);
  const all = await talk.all('list_plants', { limit: 100 });
  const names = new Map(all.map(({ id, name }) => [id, name]));
  expect(events.length).toBeGreaterThan(35);
  for (const { plantId } of events) expect(names.has(String(plantId))).toBe(true);
});

test('"That watering was a feeding"', async () => {
  const [last] = await talk.items('search_events', { type: 'watered', limit: 1 });
  await talk.call('delete_event', { id: last?.id });
  const { plantId: id, occurredAt } = record(last);
  const fed = await talk.call('create_event', { id, type: 'fertilized', occurredAt });
  expect(fed).toMatchObject({ type: 'fertilized', occurredAt });
});

test('"Which of them ever had thrips?"', async () => {
  const [found] = await talk.items('search_events', { q: 'thrips' });
  const plant = await talk.call('get_plant', { id: found?.['plantId'] });
  expect(plant['id']).toBe(plants[1]?.id);
});

test('"What is overdue?"', async () => {
  const { today, items } = await talk.call('list_due_care');
  const due = records(items);
  expect(due.length).toBeGreaterThan(0);
  for (const { plantName, dueOn, daysOverdue } of due) {
    expect([plantName, String(dueOn) <= String(today), Number(daysOverdue) >= 0]).toEqual([
      plantName,
      true,
      true,
    ]);
  }
});

test('"Which plants need feeding?"', async () => {
  const due = await talk.items('list_due_care', { type: 'fertilized' });
  expect(due.length).toBeGreaterThan(0);
  for (const { type, everyDays } of due) expect([type, everyDays]).toEqual(['fertilized', 30]);
});

test.each([
  'list_due_care',
  'list_plants',
  'search_events',
  'list_locations',
  'get_insights',
  'get_account',
])('the default response of %s with 50 plants is short', async (name) => {
  await talk.call(name);
  expect(talk.tokens).toBeLessThan(DEFAULT_TOKENS);
});
