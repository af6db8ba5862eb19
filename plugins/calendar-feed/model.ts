import { Schema } from 'mongoose';

import type { Binding } from '../../src/core/identity';
import { sharedModel } from '../../src/data/model/models';
import { BINDING } from '../accounts';

/** A calendar address of an account. */
export interface CalendarDocument {
  /** The hash of the secret in the address; the secret itself is not stored. */
  _id: string;
  /** Who reads it. */
  userId: string;
  /** The garden of another that it shows. */
  garden?: Binding;
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
      garden: { type: BINDING },
      createdAt: { type: Date, required: true },
    },
    { collection: 'calendars' },
  )
    // An account has at most one of each garden.
    .index({ userId: 1, 'garden.owner': 1 }, { unique: true }),
);
