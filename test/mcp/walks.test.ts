import { DAY_MS, HOUR_MS } from '../../src/core/time';
import { logMany, startService } from '../support/program';
import type { TestService } from '../support/service';
import { pagesOf } from './pages';
import { assistant } from './support';

let service: TestService;
beforeAll(async () => {
  service = await startService({});
});
afterAll(() => service.close());

const EVENTS = 600;
const monthEnd = Date.now() + DAY_MS;
const monthStart = monthEnd - 2 * DAY_MS - EVENTS * HOUR_MS;

/** The documents of a collection that MongoDB reads meanwhile. */
async function readDuring(collection: string, run: () => Promise<unknown>): Promise<number> {
  const { db } = service.app.database.connection;
  if (!db) throw new Error('The service is not connected.');
  await db.command({ profile: 2 });
  await run();
  await db.command({ profile: 0 });
  const profile = db.collection('system.profile');
  const found = await profile.find({ ns: `${db.databaseName}.${collection}` }).toArray();
  await profile.drop();
  return found.reduce((sum, { docsExamined = 0 }) => sum + Number(docsExamined), 0);
}

test.each([
  ['list_events', {}],
  ['list_month_events', { monthStart, monthEnd }],
  ['search_events', {}],
])('the pages of %s read hardly more events than they show', async (name, given) => {
  const caller = await assistant(service, { tier: 'pro' });
  const { id } = await caller.user.plant();
  await logMany(service.app, caller.user.id, { [id]: EVENTS });
  const place = name === 'search_events' ? { plantId: id } : { id };
  let shown = 0;
  const read = await readDuring('events', async () => {
    const pages = await pagesOf(caller, name, { ...place, ...given });
    shown = pages.flatMap(({ items }) => items).length;
  });
  expect(shown).toBe(EVENTS);
  // A page is read again if it would be too long.
  expect(read).toBeLessThan(2.5 * EVENTS);
});
