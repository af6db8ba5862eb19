import Joi from 'joi';

import { definePlugin } from '../../src/plugins/plugin';
import { announcementModel } from './model';
import { routes } from './routes';
import { type AnnouncementSeed, announcementSeed } from './schema';
import { AnnouncementService } from './service';

/** Announcements of operators to everybody. */
export default definePlugin({
  name: 'announcements',
  requires: [],
  models: [announcementModel],
  tag: { name: 'Announcements', description: 'Announcements of the operators.' },
  setup: (host) => {
    const announcements = new AnnouncementService(host);
    return {
      operations: () => routes(announcements),
      seeds: [
        {
          name: 'announcements',
          schema: Joi.array().items(announcementSeed).unique('id'),
          load: (seeds: AnnouncementSeed[]) => announcements.load(seeds),
        },
      ],
    };
  },
});
