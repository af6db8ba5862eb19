import { DAY_MS } from '../../src/core/time';
import { record, records } from '../support/client';
import { LARGEST_SINCE, startService, storeLargest } from '../support/program';
import type { TestService } from '../support/service';
import { dayIn, idOf, keyOf, keysOf, listed, pageOf, pagesOf, storeGarden } from './pages';
import { assistant, type Assistant, tool } from './support';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

describe('the next page begins where the items of the last one were', () => {
  let caller: Assistant;
  let all: string[];
  beforeEach(async () => {
    caller = await assistant(service);
    all = (await storeGarden(service, caller, 60)).map(keyOf);
  });

  test.each([1, 10])('if all %i are deleted', async (limit) => {
    const pages = await pagesOf(caller, 'list_plants', { limit }, async ({ items }) => {
      for (const item of items) await caller.user.delete(`/api/plants/${idOf(item)}`).expect(200);
    });
    expect(keysOf(pages)).toEqual(all);
  });

  test.each([1, 10])('if all %i are done and no longer due', async (limit) => {
    const pages = await pagesOf(caller, 'list_due_care', { limit }, async ({ items }) => {
      const plantIds = records(items).map(({ plantId }) => plantId);
      await tool(caller, 'complete_care', { plantIds, type: 'watered' });
    });
    expect(pages.flatMap(({ items }) => records(items).map(({ plantId }) => plantId))).toEqual(all);
  });

  test.each([1, 10])('if all %i move to the end', async (limit) => {
    const given = { limit, sort: 'lastWatered' };
    const dry = new Date(Date.now() - 30 * DAY_MS).toISOString();
    await tool(caller, 'log_care', { plantIds: all, type: 'watered', occurredAt: dry });
    const seen: string[] = [];
    let cursor: string | null = null;
    while (seen.length < all.length) {
      const page = await pageOf(caller, 'list_plants', { ...given, ...(cursor && { cursor }) });
      const plantIds = page.items.map(keyOf);
      seen.push(...plantIds);
      await tool(caller, 'log_care', { plantIds, type: 'watered' });
      cursor = page.nextCursor;
    }
    expect([...seen].sort()).toEqual([...all].sort());
  });

  test('if the last one and earlier ones are deleted', async () => {
    const pages = await pagesOf(caller, 'list_plants', { limit: 10 }, async ({ items }) => {
      for (const item of [items[2], items.at(-1)]) {
        await caller.user.delete(`/api/plants/${idOf(item)}`).expect(200);
      }
    });
    expect(keysOf(pages)).toEqual(all);
  });
});

test('care of 13 plants over a year comes in pages that together are the response over REST', async () => {
  const caller = await assistant(service);
  await storeGarden(service, caller, 13);
  const to = dayIn(365);
  const body = record((await caller.user.get(`/api/care?to=${to}`).expect(200)).body);
  for (const limit of [undefined, 100]) {
    const pages = await pagesOf(caller, 'list_due_care', { to, limit });
    expect(pages.flatMap(({ items }) => items)).toEqual(body['items']);
    expect(pages.length).toBeGreaterThan(10);
    for (const page of pages) {
      expect(page).toMatchObject({ today: body['today'], through: body['through'] });
    }
  }
});

test('a page has one item, however long it is', async () => {
  const caller = await assistant(service);
  const counts = { plants: 3, events: 4 };
  const { plantId: id } = await storeLargest(service.app, caller.user.id, counts);
  const month = { id, monthStart: LARGEST_SINCE, monthEnd: LARGEST_SINCE + DAY_MS };
  const events = await listed(caller, `/api/plants/${id}/events?`);
  for (const [name, given, all] of [
    ['list_plants', { view: 'full' }, await listed(caller, '/api/plants?')],
    ['list_month_events', month, events],
    ['list_events', { id }, events],
    ['search_events', {}, events],
  ] as const) {
    const pages = await pagesOf(caller, name, { ...given, limit: 100 });
    expect(pages.map(({ items }) => items.length)).toEqual(all.map(() => 1));
    expect(pages.flatMap(({ items }) => items)).toEqual(all);
  }
});
