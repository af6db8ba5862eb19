import Joi from 'joi';

import { id, instant, nullable, text, timestamp } from '../../src/schema';

/** An announcement as it is shown, and as a seed describes it. */
export interface AnnouncementView {
  id: string;
  textEn: string;
  textFr: string;
  linkUrl: string | null;
  linkTextEn: string | null;
  linkTextFr: string | null;
  active: boolean;
  startDate: Date | null;
  endDate: Date | null;
}

const linkUrl = text({ min: 1 }).uri({ scheme: ['http', 'https'] });

/** `seeds/announcements.json`. */
export const announcementSeeds = Joi.array()
  .items(
    Joi.object<AnnouncementView, true>({
      id: id().required(),
      textEn: text({ min: 1, max: 1000 }).required(),
      textFr: text({ min: 1, max: 1000 }).required(),
      linkUrl: nullable(linkUrl).default(null),
      linkTextEn: nullable(text({ min: 1, max: 200 })).default(null),
      linkTextFr: nullable(text({ min: 1, max: 200 })).default(null),
      active: Joi.boolean().default(true),
      startDate: nullable(timestamp()).default(null),
      endDate: nullable(timestamp()).default(null),
    }),
  )
  .unique('id');

/** Section 2.12. */
export const announcements = Joi.array().items(
  Joi.object<AnnouncementView, true>({
    id: id().required(),
    textEn: text().required(),
    textFr: text().required(),
    linkUrl: nullable(text()).required(),
    linkTextEn: nullable(text()).required(),
    linkTextFr: nullable(text()).required(),
    active: Joi.boolean().required(),
    startDate: nullable(instant()).required(),
    endDate: nullable(instant()).required(),
  }),
);
