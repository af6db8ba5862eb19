import type { TestUser } from './service';
import { bodyOf } from './shapes';

export type ListedEvent = Record<string, unknown> & { id: string };

export interface EventPage {
  items: ListedEvent[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** One page of a plant's events. */
export async function eventPage(
  user: TestUser,
  plantId: string,
  query: Record<string, string | number> = {},
): Promise<EventPage> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  const response = await user.get(`/api/plants/${plantId}/events?${search.toString()}`).expect(200);
  return bodyOf(response) as unknown as EventPage; // Tests compare its fields.
}

/** All events of a plant, by cursors; `between` runs between pages. */
export async function allPages(
  user: TestUser,
  plantId: string,
  limit: number,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  let page = await eventPage(user, plantId, { limit });
  events.push(...page.items);
  while (page.nextCursor !== null) {
    await between();
    page = await eventPage(user, plantId, { limit, cursor: page.nextCursor });
    events.push(...page.items);
  }
  return events;
}

/** Events in the order of docs/api.md, "Events": newest first, then by id. */
export function newestFirst(events: readonly ListedEvent[], by = 'occurredAt'): ListedEvent[] {
  return [...events].sort((a, b) => {
    const [one, other] = [String(a[by]), String(b[by])];
    return one === other ? (a.id < b.id ? -1 : 1) : one < other ? 1 : -1;
  });
}
