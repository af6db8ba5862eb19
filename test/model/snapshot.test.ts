import type { TestService } from '../support/service';
import { accountsPlugin, eventsPlugin, startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('all reads of a snapshot see the same moment, whatever is written meanwhile', async () => {
  const user = await service.user();
  const plant = await user.plant();
  await user.event(plant.id);
  const { events } = service.app.exportsOf(eventsPlugin);
  const counts = await service.app.database.snapshot(async (session) => {
    const count = async () => {
      let found = 0;
      for await (const { count: ofDay } of events.sums.byDay({ userId: user.id, session }))
        found += ofDay;
      return found;
    };
    const before = await count();
    await user.event(plant.id);
    return [before, await count()];
  });
  expect(counts).toEqual([1, 1]);
});

test('all of insights is of one moment, later than the account that authentication read', async () => {
  const user = await service.user();
  const before = await service.app.exportsOf(accountsPlugin).account(user.id);
  await user.plant();
  await user.photo();
  const operation = service.app.operations.find(({ path }) => path === '/api/insights');
  // The parts of a call that the handler reads.
  const call = { account: before, query: {}, now: new Date(), validUntil: () => undefined };
  const insights = await operation?.handler(call);
  expect(insights).toMatchObject({ overview: { totalPlants: 1, totalPhotos: 1 } });
});

test('a snapshot has all writes that were acknowledged before it', async () => {
  const user = await service.user();
  const plant = await user.plant();
  for (let logged = 1; logged <= 20; logged += 1) {
    await user.event(plant.id);
    const { body } = (await user.get('/api/insights').expect(200)) as {
      body: { overview: { totalEvents: number } };
    };
    expect(body.overview.totalEvents).toBe(logged);
  }
});
