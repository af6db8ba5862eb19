import Joi from 'joi';

import type { Document, Seed, View } from '../../src/fields/field';
import { defineRecord } from '../../src/fields/record';
import { named } from '../../src/fields/joi';
import { boolean, text, timestamp, url, uuid } from '../../src/fields/types';

/** An announcement (docs/specification.md, 2.12). */
export const announcement = defineRecord({
  id: uuid().readOnly(),
  textEn: text({ min: 1, max: 1000 }).example('New: due care.'),
  textFr: text({ min: 1, max: 1000 }).example('Nouveau : les soins à faire.'),
  linkUrl: url(2048).nullable(),
  linkTextEn: text({ min: 1, max: 200 }).nullable(),
  linkTextFr: text({ min: 1, max: 200 }).nullable(),
  active: boolean().default(true),
  startDate: timestamp().nullable(),
  endDate: timestamp().nullable(),
});

export type AnnouncementView = View<typeof announcement.fields>;
export type AnnouncementDocument = Document<typeof announcement.fields>;

export type AnnouncementSeed = Seed<typeof announcement.fields> & { id: string };

/** An announcement of `seeds/announcements.json`. */
export const announcementSeed = announcement.seed
  .custom((seed: AnnouncementSeed, helpers) => {
    const { startDate, endDate } = seed;
    return startDate && endDate && endDate < startDate ? helpers.error('seed.dates') : seed;
  })
  .messages({ 'seed.dates': '{{#label}} must not have an endDate before its startDate' });

export const announcements = Joi.array().items(named('Announcement', announcement.view));
