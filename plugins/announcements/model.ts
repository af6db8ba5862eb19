import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';
import { type AnnouncementDocument, announcement } from './schema';

export const announcementModel = sharedModel<AnnouncementDocument>(
  'Announcement',
  'announcements are the same for everybody',
  { oneShard: 'a few records' },
  new Schema(announcement.paths, { collection: 'announcements' })
    // Active announcements, in order.
    .index({ active: 1, _id: 1 }),
);
