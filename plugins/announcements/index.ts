import { definePlugin } from '../../src/plugins/define';
import { announcementModel } from './model';
import { routes } from './routes';
import { announcementSeeds } from './schema';
import { AnnouncementService } from './service';

/** What operators tell everybody. */
export default definePlugin<AnnouncementService>({
  name: 'announcements',
  requires: [],
  models: [announcementModel],
  setup: (host) => {
    const announcements = new AnnouncementService(host);
    return {
      offers: announcements,
      operations: routes(announcements),
      seeds: [
        {
          name: 'announcements',
          schema: announcementSeeds,
          load: (content: Parameters<AnnouncementService['load']>[0]) =>
            announcements.load(content),
        },
      ],
    };
  },
});
