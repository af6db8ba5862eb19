import { type Operation, read } from '../../src/plugins/operation';
import { eventView } from '../events';
import { photoView } from '../photos';
import type { Plants } from '../plants';
import { nextDay } from './cursor';
import { cursorExpired, invalidSince } from './errors';
import { changesQuery, changesSchema } from './schema';
import type { ChangeService } from './service';

/** What changed (docs/decisions.md, "Changes"). */
export function routes(changes: ChangeService, plants: Pick<Plants, 'view'>): Operation[] {
  return [
    read({
      path: '/api/changes',
      summary: 'List what changed, to keep a copy in step',
      operationId: 'listChanges',
      access: { scope: 'plants:read' },
      query: changesQuery,
      response: {
        schema: changesSchema({ plants: plants.view, events: eventView, photos: photoView }),
        description:
          'Records that are new or changed since the cursor, each as it is now, and those that are gone. A copy that applies every answer in turn, plants, events, photos and then deletions, is what the lists show once `hasMore` is false. An answer ends at 1 MB, and may hold fewer than `limit` while `hasMore` is true',
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
