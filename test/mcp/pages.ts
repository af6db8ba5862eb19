import { DAY_MS } from '../../src/core/time';
import { record, records } from '../support/client';
import { storePlants } from '../support/program';
import type { TestService } from '../support/service';
import { type Assistant, callTool } from './support';

/** The maximum length of a result, in characters, unless it is a single item. */
export const LONGEST = 12_000;

export type Item = Record<string, unknown> | string;

export interface Page {
  items: Item[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** One page of a list; it must be short. */
export async function pageOf(caller: Assistant, name: string, given: object): Promise<Page> {
  const { structuredContent, content } = await callTool(caller, name, given);
  if (!structuredContent) throw new Error(content[0]?.text);
  const page = structuredContent as unknown as Page; // Its members are compared.
  if (page.items.length > 1) expect(content[0]?.text.length).toBeLessThanOrEqual(LONGEST);
  expect(page.hasMore).toBe(page.nextCursor !== null);
  return page;
}

/** All pages of a list; `between` runs between them. */
export async function pagesOf(
  caller: Assistant,
  name: string,
  given: object,
  between: (page: Page) => Promise<void> = async () => undefined,
): Promise<Page[]> {
  const pages = [await pageOf(caller, name, given)];
  for (let [last] = pages; last?.hasMore === true; last = pages.at(-1)) {
    await between(last);
    pages.push(await pageOf(caller, name, { ...given, cursor: last.nextCursor }));
  }
  return pages;
}

/** The whole list over REST, whose address has a query. */
export async function listed({ user }: Pick<Assistant, 'user'>, address: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: unknown;
  do {
    const more = typeof cursor === 'string' ? `&limit=100&cursor=${cursor}` : '';
    const body: unknown = (await user.get(`${address}${more}`).expect(200)).body;
    items.push(...((Array.isArray(body) ? body : record(body)['items']) as Item[]));
    cursor = Array.isArray(body) ? null : record(body)['nextCursor'];
  } while (typeof cursor === 'string');
  return items;
}

export function idOf(item: Item | undefined): string {
  return typeof item === 'object' ? String(item['id']) : '';
}

/** What stays the same of an item of any list, whatever is written to the rest of it. */
export function keyOf(item: Item): string {
  if (typeof item === 'string') return item;
  const { id, plantId, scheduleId, type, dueOn } = item;
  return typeof id === 'string' ? id : JSON.stringify([plantId, scheduleId, type, dueOn]);
}

export function keysOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ items }) => items.map(keyOf));
}

export const dayIn = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

export const LONG_NOTE = 'Bought at the market, likes to be turned. '.repeat(20);

/** Stores plants with long notes that are due; returns them. */
export async function storeGarden(
  { app }: TestService,
  caller: Assistant,
  count: number,
): Promise<Record<string, unknown>[]> {
  const plants = Array.from({ length: count }, (_, index) => ({
    name: `Plant ${index}`,
    species: `Species ${index % 40}`,
    location: `Room ${index % 120}`,
    notes: LONG_NOTE,
    wateringFrequencyDays: 7,
    mossPoleNeeded: false,
    toxic: false,
  }));
  await storePlants(app, caller.user.id, plants);
  return records(await listed(caller, '/api/plants?'));
}
