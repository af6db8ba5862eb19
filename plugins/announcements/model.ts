import { Schema } from 'mongoose';

import { defineModel } from '../../src/data/models';
import type { StoredId } from '../../src/ids';

export interface AnnouncementDocument {
  _id: StoredId;
  textEn: string;
  textFr: string;
  linkUrl: string | null;
  linkTextEn: string | null;
  linkTextFr: string | null;
  active: boolean;
  startDate: Date | null;
  endDate: Date | null;
}

export const announcementModel = defineModel<AnnouncementDocument>({
  name: 'Announcement',
  owner: { shared: 'announcements are the same for everybody' },
  schema: new Schema<AnnouncementDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      textEn: { type: String, required: true },
      textFr: { type: String, required: true },
      linkUrl: { type: String, default: null },
      linkTextEn: { type: String, default: null },
      linkTextFr: { type: String, default: null },
      active: { type: Boolean, required: true },
      startDate: { type: Date, default: null },
      endDate: { type: Date, default: null },
    },
    { collection: 'announcements', versionKey: false },
  )
    // The active ones, in their order.
    .index({ active: 1, _id: 1 }),
});
