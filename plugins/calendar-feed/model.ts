import { Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';

/** The calendar address of an account. */
export interface CalendarDocument {
  /** The hash of the secret in the address; the secret itself is not stored. */
  _id: string;
  userId: string;
  createdAt: Date;
}

export const calendarModel = sharedModel<CalendarDocument>(
  'Calendar',
  'a calendar is looked up by its secret, before its account is known',
  { oneShard: 'it is looked up by its secret or its account, and both are unique' },
  new Schema(
    {
      _id: { type: String, required: true },
      userId: { type: String, required: true },
      createdAt: { type: Date, required: true },
    },
    { collection: 'calendars' },
  )
    // An account has at most one.
    .index({ userId: 1 }, { unique: true }),
);
