import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';

/** Where the care of an account can be read as a calendar. */
export interface CalendarDocument {
  /** The hash of the secret in its address; the secret itself is nowhere. */
  _id: string;
  userId: string;
  createdAt: Date;
}

export const calendarModel = sharedModel<CalendarDocument>(
  'Calendar',
  'a calendar is looked up before it is known whose it is',
  new Schema(
    {
      _id: { type: String, required: true },
      userId: { type: String, required: true },
      createdAt: { type: Date, required: true },
    },
    { collection: 'calendars' },
  )
    // An account has one at most.
    .index({ userId: 1 }, { unique: true }),
);
