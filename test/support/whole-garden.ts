import { type Client, record, records } from './client';

/** A UUID in a text. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A text with its ids numbered in their order, since an import gives new ones. */
export function withoutIds(text: string): string {
  const numbers = new Map<string, string>();
  return text.replace(ID, (id) => {
    const number = numbers.get(id) ?? `id ${numbers.size}`;
    numbers.set(id, number);
    return number;
  });
}

/** The parts of an export. */
export async function exportedParts(client: Client): Promise<Record<string, unknown>[]> {
  const parts: Record<string, unknown>[] = [];
  do {
    const { status, body } = await client.send('GET', `/api/export?part=${parts.length + 1}`);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    parts.push(record(body));
  } while (parts.length < Number(parts[0]?.['parts']));
  return parts;
}

/** All lists of a garden as text, but for ids, and what is derived from them. */
export async function listsOf(client: Client, userId: string): Promise<Record<string, string>> {
  const get = async (path: string): Promise<unknown> => (await client.send('GET', path)).body;
  const pages = async (path: string): Promise<unknown[]> => {
    const items: unknown[] = [];
    let page = record(await get(`${path}limit=100`));
    items.push(...records(page['items']));
    while (page['hasMore'] === true) {
      page = record(await get(`${path}limit=100&cursor=${String(page['nextCursor'])}`));
      items.push(...records(page['items']));
    }
    return items;
  };
  const plants = records(await get('/api/plants?status=all'));
  const care = record(await get('/api/care?dueBy=9999-12-31'));
  const lists = {
    plants,
    photos: await pages('/api/photos?'),
    taken: await pages('/api/photos?sort=takenAt&'),
    events: await pages('/api/events?'),
    logged: await pages('/api/events?sort=createdAt&'),
    care: care['items'],
    locations: await get('/api/locations'),
    insights: await get('/api/insights'),
  };
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => {
      const text = JSON.stringify(list).replaceAll(userId, 'user');
      return [name, withoutIds(text)];
    }),
  );
}
