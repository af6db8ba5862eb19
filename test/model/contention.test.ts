import { Client, record, records, type Reply } from '../support/client';
import type { TestService, TestUser } from '../support/service';
import { accountsPlugin, eventsPlugin, differencesOf, startService } from '../support/program';

let service: TestService;
let twin: TestService;

beforeAll(async () => {
  service = await startService();
  // For the database, another process.
  twin = await startService({ mongodbUri: service.mongodbUri });
});
afterAll(async () => {
  await twin.close();
  await service.close();
});

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** The ids of all events of a plant, in the order of the list. */
async function eventIds(client: Client, plantId: string): Promise<string[]> {
  const path = `/api/plants/${plantId}/events?limit=100`;
  const ids: string[] = [];
  let next: string | null = path;
  while (next !== null) {
    const page = record((await client.send('GET', next)).body);
    ids.push(...records(page['items']).map(({ id }) => String(id)));
    const cursor = page['nextCursor'] as string | null; // docs/specification.md, 2.10
    next = cursor && `${path}&cursor=${cursor}`;
  }
  return ids;
}

async function overviewOf(client: Client): Promise<Record<string, unknown>> {
  const { body } = await client.send('GET', '/api/insights');
  return record(record(body)['overview']);
}

const minute = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();

/** A writer creates, changes and deletes plants and events in an order of its own. */
async function write(client: Client, writer: number, shared: string): Promise<void> {
  const ok = async (status: number, ...request: Parameters<Client['send']>): Promise<Reply> => {
    const reply = await client.send(...request);
    expect({ request, status: reply.status }).toEqual({ request, status });
    return reply;
  };
  const made = async (path: string, body: object) =>
    String(record((await ok(201, 'POST', path, { body })).body)['id']);
  for (const round of times(3, (index) => index)) {
    const plant = await made('/api/plants', { name: `${writer}.${round}`, location: 'Hall' });
    const body = { type: 'growth', growthAmount: 0.1, growthUnit: 'cm' };
    const growth = await made(`/api/plants/${shared}/events`, body);
    const own = await made(`/api/plants/${plant}/events`, { occurredAt: minute(writer) });
    await made(`/api/plants/${shared}/events`, { occurredAt: minute(writer * 3 + round) });
    const changed = { growthAmount: 0.2, occurredAt: minute(writer + round * 500) };
    await ok(200, 'PATCH', `/api/events/${growth}`, { body: changed });
    await ok(200, 'PATCH', `/api/plants/${plant}`, { body: { location: `Room ${writer}` } });
    if (round === 0) await ok(200, 'DELETE', `/api/events/${growth}`);
    if (round === 1) await ok(200, 'DELETE', `/api/plants/${plant}`);
    if (round === 2) await ok(200, 'DELETE', `/api/events/${own}`);
  }
}

/** Compares the totals of an account with its lists and with a rebuild. */
async function expectAgreement(user: TestUser, client: Client, totals: object): Promise<void> {
  const plants = records((await client.send('GET', '/api/plants')).body);
  const lists = await Promise.all(plants.map(({ id }) => eventIds(client, String(id))));
  const ids = lists.flat();
  expect(new Set(ids).size).toBe(ids.length);
  const counted = { totalPlants: plants.length, totalEvents: ids.length };
  expect(counted).toEqual(totals);
  expect(await overviewOf(client)).toMatchObject(counted);
  expect(await differencesOf(service.app, user.id)).toEqual([]);
}

test('with sixteen writers on one account, totals and lists agree', async () => {
  const user = await service.user({ timezone: 'Asia/Kathmandu' });
  const client = new Client(service.url, user.token);
  const { id } = await user.plant();
  await Promise.all(times(16, (writer) => write(client, writer, id)));
  // Two of each writer's three plants stay; of its nine events, one is deleted with its plant and two alone.
  await expectAgreement(user, client, { totalPlants: 1 + 16 * 2, totalEvents: 16 * 6 });
});

test('with writers through two services on one account, totals and lists agree', async () => {
  const user = await service.user({ timezone: 'America/Caracas' });
  const clients = [new Client(service.url, user.token), new Client(twin.url, user.token)];
  const { id } = await user.plant();
  await Promise.all(
    times(4, (writer) =>
      clients.map((client, side) => write(client, writer * 2 + side, id)),
    ).flat(),
  );
  for (const client of clients) {
    await expectAgreement(user, client, { totalPlants: 1 + 8 * 2, totalEvents: 8 * 6 });
  }
});

test('events that are logged just before and after a change of time zone each have their own day', async () => {
  const user = await service.user({ timezone: 'Pacific/Kiritimati' });
  const { id } = await user.plant();
  const { writeQueue } = service.app;
  const { events } = service.app.exportsOf(eventsPlugin);
  const log = (index: number) =>
    writeQueue.run(user.id, (tx) =>
      events.create(tx, id, { type: 'watered', occurredAt: new Date(minute(index)) }),
    );
  const timezone = 'Pacific/Pago_Pago';
  const change = () => service.app.exportsOf(accountsPlugin).changeAccount(user.id, { timezone });
  // While the first is written, the others queue and then share a transaction.
  await Promise.all([log(0), log(1), change(), log(2), log(3)]);
  const client = new Client(service.url, user.token);
  await expectAgreement(user, client, { totalPlants: 1, totalEvents: 4 });
});

test('events that are logged while another process changes the time zone are counted on the days that they have', async () => {
  const user = await service.user({ timezone: 'Pacific/Kiritimati' });
  const client = new Client(service.url, user.token);
  const { id } = await user.plant();
  const log = () =>
    times(10, (index) =>
      client.send('POST', `/api/plants/${id}/events`, { body: { occurredAt: minute(index) } }),
    );
  const timezone = 'Pacific/Pago_Pago';
  const change = twin.app.exportsOf(accountsPlugin).changeAccount(user.id, { timezone });
  await Promise.all([...log(), change, ...log()]);
  await expectAgreement(user, client, { totalPlants: 1, totalEvents: 20 });
});
