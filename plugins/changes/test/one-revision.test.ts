import { changesSince } from '../../../test/support/copy';
import { Client } from '../../../test/support/client';
import { queriesOf } from '../../../test/support/profiler';
import { logMany, startService, type TestService } from '../../../test/support/program';

/** The number of responses to read, enough that earlier changes would show. */
const PAGES = 20;
const LIMIT = 100;

let service: TestService;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
afterAll(() => service.close());

test('many records with one revision, as after an import, are read from one range of an index', async () => {
  const user = await service.user();
  const { id } = await user.plant();
  await logMany(service.app, user.id, { [id]: (PAGES + 5) * LIMIT });
  const collection = (name: string) => service.app.database.connection.collection(name);
  for (const name of ['plants', 'events', 'photos']) {
    await collection(name).updateMany({ userId: user.id }, { $set: { revision: 0 } });
  }
  const phone = new Client(service.url, user.token);
  const seen = new Set<unknown>();
  const queries = await queriesOf(service, async () => {
    let since: string | undefined;
    for (let page = 0; page < PAGES; page += 1) {
      const { events, nextCursor } = await changesSince(phone, since, LIMIT);
      for (const event of events) seen.add(event['id']);
      since = nextCursor;
    }
  });
  phone.close();
  // The plant is the first of all.
  expect(seen.size).toBe(PAGES * LIMIT - 1);
  const reads = queries.filter(({ collection }) => collection === 'events');
  const examined = reads.reduce((sum, { keysExamined }) => sum + keysExamined, 0);
  expect(examined).toBeLessThan(2 * PAGES * LIMIT);
});
