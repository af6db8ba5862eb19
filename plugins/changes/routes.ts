import type { Host } from '../../src/plugins/host';
import { type Operation, read } from '../../src/plugins/operation';
import { cursorExpired, invalidSince, nextDay } from './cursor';
import { changesQuery, changesSchema } from './schema';
import { ChangeService } from './service';

/** Operations on changes (docs/api.md, "Changes"). */
export function routes(host: Host): Operation[] {
  const lists = host.changedLists();
  const changes = new ChangeService(host, lists);
  return [
    read({
      path: '/api/changes',
      summary: 'List changes, to keep a copy in sync',
      description:
        'For apps that keep a copy: everything or, with the `nextCursor` of an earlier response as `since`, what has changed since. Apply each response as plants, schedules, events, photos, then `deleted`; store `nextCursor` with the copy; and repeat while `hasMore` is true. The copy then equals the lists. A deleted plant takes its events and schedules with it. Deletions are kept for 90 days; an older cursor gets 410 `cursor_expired`, and the copy starts again without `since`.',
      operationId: 'listChanges',
      access: { scope: 'plants:read' },
      query: changesQuery,
      response: {
        schema: changesSchema(lists),
        description:
          'New and changed records as they are now, and deletions. A response ends at 1 MB, so it may have fewer than `limit` records while `hasMore` is true',
      },
      errors: [invalidSince, cursorExpired],
      tool: { none: 'it is for programs that keep a copy' },
      handler: ({ account, query, now, validUntil }) => {
        // The cursor contains the day.
        validUntil(nextDay(now));
        return changes.list(account, query, now);
      },
    }),
  ];
}
