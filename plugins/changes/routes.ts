import type { Host } from '../../src/plugins/host';
import { type Operation, read } from '../../src/plugins/operation';
import { nextDay } from './cursor';
import { cursorExpired, invalidSince } from './errors';
import { changesQuery, changesSchema } from './schema';
import { ChangeService } from './service';

/** What changed (docs/api.md, "Changes"). */
export function routes(host: Host): Operation[] {
  const lists = host.changedLists();
  const changes = new ChangeService(host, lists);
  return [
    read({
      path: '/api/changes',
      summary: 'List what changed, to keep a copy in step',
      description:
        'For apps that keep a copy: without `since` everything, and with the `nextCursor` of an earlier answer what changed since that one. Apply each answer as plants, schedules, events, photos, then `deleted`, store `nextCursor` with the copy, and ask again while `hasMore` is true: the copy then equals what the lists answer. A deleted plant stands for its events too. A deletion is remembered for 90 days; an older cursor gets 410 `cursor_expired`, and the copy begins anew without `since`.',
      operationId: 'listChanges',
      access: { scope: 'plants:read' },
      query: changesQuery,
      response: {
        schema: changesSchema(lists),
        description:
          'Records that are new or changed since the cursor, each as it is now, and those that are gone. An answer ends at 1 MB, and may hold fewer than `limit` while `hasMore` is true',
      },
      errors: [invalidSince, cursorExpired],
      tool: { none: 'it is for programs that keep a copy; assistants ask for what they need' },
      handler: ({ account, query, now, validUntil }) => {
        // The cursor says on which day it was given.
        validUntil(nextDay(now));
        return changes.list(account, query, now);
      },
    }),
  ];
}
