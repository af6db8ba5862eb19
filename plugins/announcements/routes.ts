import { type Operation, read } from '../../src/plugins/operation';
import { announcements as announcementList } from './schema';
import type { AnnouncementService } from './service';

/** Operations on announcements (docs/specification.md, 4.4). */
export function routes(announcements: AnnouncementService): Operation[] {
  return [
    read({
      path: '/api/announcements',
      summary: 'List active announcements',
      of: 'person',
      access: { anyToken: 'announcements concern everybody' },
      notCacheable: 'announcements belong to no account, and come and go with time',
      response: { schema: announcementList, description: 'The active announcements' },
      tool: {
        name: 'list_announcements',
        description:
          'List current announcements of the operators, in English (textEn) and French (textFr).',
      },
      handler: ({ now }) => announcements.active(now),
    }),
  ];
}
